"""Topics by id and by name.

A topic's partitions are a tuple, dense from 0: Kafka creates them so and never removes one. Changing one of them copies
the tuple, which for ten thousand partitions is some microseconds, and keeps an image small and quick to read.
"""

from typing import Final, NamedTuple

from immutables import Map

from ottla.base.ids import Uuid
from ottla.metadata.image.partition import PartitionRegistration


class TopicImage(NamedTuple):
    """A topic; a partition's index is its place in `partitions`."""

    name: str
    id: Uuid
    partitions: tuple[PartitionRegistration, ...]


class TopicsImage(NamedTuple):
    """All topics."""

    by_id: Map[Uuid, TopicImage]
    ids: Map[str, Uuid]

    def topic(self, name: str) -> TopicImage | None:
        """The topic of that name, if there is one."""
        topic_id = self.ids.get(name)
        return None if topic_id is None else self.by_id[topic_id]

    def partition(self, topic_id: Uuid, index: int) -> PartitionRegistration | None:
        """The partition, if there are such a topic and such an index."""
        topic = self.by_id.get(topic_id)
        if topic is None or not 0 <= index < len(topic.partitions):
            return None
        return topic.partitions[index]


EMPTY_TOPICS: Final = TopicsImage(Map(), Map())
