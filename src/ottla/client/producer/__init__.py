"""The producer: records in, batches out, answers back to those who sent; see `producer` and `async_producer`."""
