"""The client's assignors beside Java's, on inputs drawn from a seed."""
