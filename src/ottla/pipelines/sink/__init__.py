"""Data frames written to topics, in batches and as streams."""
