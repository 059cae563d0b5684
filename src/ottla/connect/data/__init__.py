"""Schemas and the values that they describe."""
