"""Topics read as data frames, in batches and as streams."""
