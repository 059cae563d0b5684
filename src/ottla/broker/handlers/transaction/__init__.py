"""Calls about producers and transactions."""
