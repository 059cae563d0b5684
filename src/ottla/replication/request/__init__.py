"""Clients' requests to partitions: append, read, delete, look up; and waiting requests."""
