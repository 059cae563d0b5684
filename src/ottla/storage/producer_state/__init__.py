"""A log's state of its producers: sequence numbers, epochs and open transactions (KIP-98, KIP-890)."""
