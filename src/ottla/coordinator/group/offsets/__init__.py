"""Committed offsets of groups: their state, and the operations on it."""
