"""Transactions of a producer: their states, their coordinator, and the offsets that are part of them."""
