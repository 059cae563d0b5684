"""Snapshots: the log up to an offset as one file, written, sent, fetched in place of the log."""
