"""Calls about the records of partitions, and the files that hold them."""
