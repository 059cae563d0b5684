"""SASL without I/O: mechanisms from both sides, the log-in of a connection around them, and Java's way of settings."""
