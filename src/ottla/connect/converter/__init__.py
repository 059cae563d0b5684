"""Bytes of a topic to values and back."""
