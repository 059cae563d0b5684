"""Connections to the nodes of a cluster, and what is known of it."""
