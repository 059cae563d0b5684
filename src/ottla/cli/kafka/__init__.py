"""Kafka's own scripts by their own names, flags and outputs: one module each, with a `main` that pip installs."""
