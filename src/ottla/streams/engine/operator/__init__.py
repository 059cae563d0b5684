"""Operators: what nodes do with records."""
