"""Connectors at work, with a broker; some with Spark."""
