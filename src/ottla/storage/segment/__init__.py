"""A segment: a stretch of the log in one file, with its indexes beside it."""
