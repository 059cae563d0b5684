"""Positions: committed, looked up, reset."""
