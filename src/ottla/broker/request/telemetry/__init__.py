"""Metrics that clients push (KIP-714): who is to push which."""
