"""The classic protocol's assignors, which spread partitions over members."""
