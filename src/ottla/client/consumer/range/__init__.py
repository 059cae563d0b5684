"""A range of offsets, read once: without a group, and without a position that moves on."""
