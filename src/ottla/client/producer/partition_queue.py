"""A partition's batches that wait to be sent, oldest first; those in flight are remembered by number only."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.client.record import TopicPartition

if TYPE_CHECKING:
    from ottla.client.producer.append import TopicLane
    from ottla.client.producer.batch import ProducerBatch


class PartitionQueue:
    """What waits for one partition."""

    __slots__ = ("batches", "held_for", "in_flight", "lane", "partition", "topic", "topic_partition", "waited_for")

    def __init__(self, lane: "TopicLane", partition: int) -> None:
        self.lane = lane
        self.topic: str = lane.topic
        self.partition = partition
        self.topic_partition = TopicPartition(lane.topic, partition)
        self.batches: deque[ProducerBatch] = deque()
        self.in_flight = 0
        """How many of its batches are on their way."""
        self.held_for: ProducerBatch | None = None
        """The batch that a waiting thread carries by itself; nothing else is sent meanwhile."""
        self.waited_for: Callable[[ProducerBatch, float | None], None] = _ignored
        """Hears that somebody is about to wait for a batch, for how many seconds."""

    @property
    def is_held(self) -> bool:
        """Whether a batch of it is carried that is not done."""
        return self.held_for is not None and not self.held_for.is_done

    def put_back(self, batch: "ProducerBatch") -> None:
        """A batch that has to be sent again: before all with later sequence numbers, and before all that have none.

        Waiting are sequences [20, 30] and a batch without; 10 goes to the front, 25 between 20 and 30.
        """
        later = 0
        if batch.has_sequence:
            for waiting in self.batches:
                if not waiting.has_sequence or _is_before(batch, waiting):
                    break
                later += 1
        self.batches.insert(later, batch)

    def __repr__(self) -> str:
        return f"<PartitionQueue {self.topic_partition}: {len(self.batches)} batches, {self.in_flight} in flight>"


def _ignored(_batch: "ProducerBatch", _timeout_s: float | None) -> None:
    """Nobody helps those who wait."""


def _is_before(batch: "ProducerBatch", other: "ProducerBatch") -> bool:
    """Sequences go round at 2^31, and no two in a queue are half a circle apart."""
    return (other.base_sequence - batch.base_sequence) & 0x7FFFFFFF < 0x40000000
