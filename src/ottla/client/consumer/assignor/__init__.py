"""Who gets which partitions: the classic protocol's assignors."""
