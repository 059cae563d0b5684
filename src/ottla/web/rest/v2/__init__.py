"""The API's version 2: produce, consumers, and what topics, partitions and brokers there are."""
