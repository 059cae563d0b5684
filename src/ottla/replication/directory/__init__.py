"""Replicas in the log directories of a broker: opened, moved, lost with their disk."""
