"""A partition's name: the pair by which servers and clients speak of it."""

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A topic's name and a partition of it.

    >>> str(TopicPartition("orders", 7))
    'orders-7'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
