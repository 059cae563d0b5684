"""Connectors at work, without a broker."""
