"""Calls that tell what a cluster is made of, and what it speaks."""
