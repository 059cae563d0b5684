"""Calls about groups and their offsets, as far as something is decided before the coordinator."""
