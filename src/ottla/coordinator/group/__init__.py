"""Groups of consumers and their offsets, on the partitions of `__consumer_offsets`."""
