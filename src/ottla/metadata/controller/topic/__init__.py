"""Topics and partitions: made, placed, led, moved, deleted."""
