"""Nodes on this machine: their settings, their directories, their processes, and serving itself."""
