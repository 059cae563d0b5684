"""The metadata of the cluster: the version of the controller, and the one that a broker has heard of."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.coordinator.ports import PartitionKey, PartitionLeader, TopicView

OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
NO_LEADER: Final = -1


class ClusterImage(NamedTuple):
    """One immutable version of the metadata."""

    version: int
    topics: Mapping[str, TopicView]
    leaders: Mapping[PartitionKey, PartitionLeader]
    alive: frozenset[int]
    transaction_version: int

    def leader(self, key: PartitionKey) -> PartitionLeader:
        """The leader of a partition; topics that are only read have none."""
        return self.leaders.get(key, PartitionLeader(NO_LEADER, 0))


def topic_id(name: str) -> Uuid:
    """The id of a topic."""
    return Uuid(name.encode().ljust(16, b"-")[:16])


class ClusterView:
    """`MetadataView` on the newest image that a broker has heard of."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image

    def topic(self, name: str) -> TopicView | None:
        """See `MetadataView`."""
        return self.image.topics.get(name)

    def topic_by_id(self, topic_id: Uuid) -> TopicView | None:
        """See `MetadataView`."""
        return next((topic for topic in self.image.topics.values() if topic.id == topic_id), None)

    def topic_names(self) -> Iterable[str]:
        """See `MetadataView`."""
        return self.image.topics.keys()

    def partition_racks(self, topic: str, partition: int) -> frozenset[str]:
        """Empty: no broker has a rack."""
        return frozenset()

    def partition_leader(self, topic: str, partition: int) -> PartitionLeader | None:
        """See `MetadataView`."""
        return self.image.leaders.get(PartitionKey(topic, partition))

    def is_broker_alive(self, broker_id: int) -> bool:
        """See `MetadataView`."""
        return broker_id in self.image.alive

    def feature_level(self, name: str) -> int:
        """The version of transactions is all that coordinators ask for."""
        return self.image.transaction_version

    def group_configs(self, group_id: str) -> Mapping[str, str]:
        """No group has configs of its own."""
        return {}
