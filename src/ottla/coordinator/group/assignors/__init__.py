"""Who gets which partitions: the strategies that the coordinator itself runs for consumer groups."""
