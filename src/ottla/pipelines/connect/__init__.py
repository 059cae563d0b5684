"""Connectors at work: the kind `connect`, whose query has a partition for each task."""
