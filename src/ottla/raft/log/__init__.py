"""The records of a quorum: collected, written as batches, and kept."""
