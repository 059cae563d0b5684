"""The consumer's membership of a group."""
