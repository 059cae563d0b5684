"""The partitions of a broker by name, those whose directory failed, and what to say of the rest."""

from collections.abc import Iterable

from ottla.base.ids import Uuid
from ottla.metadata.image.topic import EMPTY_TOPICS, TopicsImage
from ottla.protocol.errors import (
    ApiError,
    KafkaStorageError,
    NotLeaderOrFollowerError,
    UnknownTopicOrPartitionError,
)
from ottla.replication.partition.partition import Partition


class PartitionTable:
    """Which partitions are here."""

    __slots__ = ("offline", "online", "topics")

    def __init__(self) -> None:
        self.online: dict[tuple[str, int], Partition] = {}
        """By topic and index."""
        self.offline: dict[tuple[str, int], Uuid] = {}
        """Partitions that the metadata places here but whose directory failed, with their topic's id."""
        self.topics: TopicsImage = EMPTY_TOPICS
        """The newest that the cluster said, which may be ahead of `online`."""

    def get(self, topic: str, index: int) -> Partition:
        """The partition; raises why it is not here."""
        partition = self.online.get((topic, index))
        if partition is None:
            raise self.absence(topic, index)
        return partition

    def is_here(self, partition: Partition) -> bool:
        """Whether the partition was neither deleted nor taken offline since it was looked up."""
        return self.online.get((partition.topic, partition.index)) is partition

    def absence(self, topic: str, index: int) -> ApiError:
        """Why a partition is not here.

        While the metadata is ahead of what has been set up, a partition that this broker is about to lead is one that
        it does not lead yet: clients look again, as they do after a move.
        """
        if (topic, index) in self.offline:
            return KafkaStorageError(f"Partition {topic}-{index} is in an offline log directory")
        image = self.topics.topic(topic)
        if image is not None and 0 <= index < len(image.partitions):
            return NotLeaderOrFollowerError(f"Error while fetching partition state for {topic}-{index}")
        return UnknownTopicOrPartitionError()

    def all(self) -> Iterable[Partition]:
        """Every partition that is online."""
        return list(self.online.values())

    def add(self, partition: Partition) -> None:
        """The partition is here now."""
        key = (partition.topic, partition.index)
        self.online[key] = partition
        self.offline.pop(key, None)

    def remove(self, topic: str, index: int) -> Partition | None:
        """The partition is not here any more; what it was."""
        self.offline.pop((topic, index), None)
        return self.online.pop((topic, index), None)

    def take_offline(self, topic: str, index: int, topic_id: Uuid) -> None:
        """The partition's directory failed."""
        self.online.pop((topic, index), None)
        self.offline[(topic, index)] = topic_id
