"""Voter sets, their history in the log, and changes of one voter at a time (KIP-853)."""
