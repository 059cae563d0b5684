"""By what brokers know a batch again: the producer's id and epoch, and a sequence number per partition (KIP-98).

>>> numbers = SequenceNumbers(ProducerIdentity(7, 0))
>>> numbers.take(TopicPartition("orders", 0), 10), numbers.take(TopicPartition("orders", 0), 5)
(0, 10)

Without an identity nothing is numbered, and a batch that is sent again may be there twice.
"""

from typing import Final

from ottla.client.producer.sequence import NO_IDENTITY, ProducerIdentity
from ottla.client.record import TopicPartition

_SEQUENCE_MASK: Final = 0x7FFFFFFF


class SequenceNumbers:
    """The numbers of one producer."""

    def __init__(self, identity: ProducerIdentity = NO_IDENTITY) -> None:
        self.identity: Final = identity
        self._next: Final[dict[TopicPartition, int]] = {}

    def take(self, place: TopicPartition, count: int) -> int:
        """The first of `count` numbers; they start again at 0 after 2^31-1."""
        if not self.identity.is_valid:
            return -1
        first = self._next.get(place, 0)
        self._next[place] = (first + count) & _SEQUENCE_MASK
        return first
