"""A range of offsets of one partition.

A range is [start, end): it holds every offset from `start` up to and without `end`, whether there is a record at it or
not.
"""

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.record import TopicPartition


@frozen
class OffsetRange:
    """Offsets of one partition, to be read in order."""

    partition: TopicPartition
    start: int
    end: int
    topic_id: Uuid = ZERO_UUID
    """The topic that was meant when the range was made: one made anew under the same name has another."""

    @property
    def size(self) -> int:
        """Offsets in it; the records may be fewer."""
        return self.end - self.start
