"""Tokens that tests sign, and the keys that check them."""
