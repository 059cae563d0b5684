"""A cluster's metadata that tests change at will; a `MetadataView`."""

from collections.abc import Iterable, Mapping

from ottla.base.ids import Uuid
from ottla.coordinator.ports import PartitionLeader, TopicView


class Cluster:
    """Topics by name, all led by broker 1."""

    def __init__(self, topics: Mapping[str, int]) -> None:
        self.version = 0
        self.configs: dict[str, dict[str, str]] = {}
        self.racks: frozenset[str] = frozenset()
        self._topics: dict[str, TopicView] = {}
        self._ids: dict[Uuid, TopicView] = {}
        self._made = 0
        for name, count in topics.items():
            self.create(name, count)

    def create(self, name: str, count: int) -> TopicView:
        """A topic with an id that no topic had before."""
        self._made += 1
        return self._set(TopicView(name, Uuid(self._made.to_bytes(16, "big")), count))

    def grow(self, name: str, count: int) -> None:
        """The topic has more partitions."""
        self._set(self._topics[name]._replace(partition_count=count))

    def delete(self, name: str) -> None:
        """The topic is gone."""
        self.version += 1
        del self._ids[self._topics.pop(name).id]

    def id(self, name: str) -> Uuid:
        """The id of a topic that is there."""
        return self._topics[name].id

    def topic(self, name: str) -> TopicView | None:
        return self._topics.get(name)

    def topic_by_id(self, topic_id: Uuid) -> TopicView | None:
        return self._ids.get(topic_id)

    def topic_names(self) -> Iterable[str]:
        return list(self._topics)

    def partition_racks(self, topic: str, partition: int) -> frozenset[str]:
        return self.racks

    def partition_leader(self, topic: str, partition: int) -> PartitionLeader | None:
        return PartitionLeader(1, 0) if topic in self._topics else None

    def is_broker_alive(self, broker_id: int) -> bool:
        return broker_id == 1

    def feature_level(self, name: str) -> int:
        return 0

    def group_configs(self, group_id: str) -> Mapping[str, str]:
        return self.configs.get(group_id, {})

    def _set(self, topic: TopicView) -> TopicView:
        self.version += 1
        self._topics[topic.name] = self._ids[topic.id] = topic
        return topic
