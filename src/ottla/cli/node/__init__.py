"""Nodes on this machine: their settings, their directories and their processes."""
