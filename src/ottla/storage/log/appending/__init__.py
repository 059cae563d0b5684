"""The way of batches into a log: checked and placed, then written, at once or by a thread."""
