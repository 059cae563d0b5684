"""`MetadataView` on the newest image of the metadata log."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.ports import PartitionLeader, TopicView
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.topic import TopicImage


class ImageView:
    """The coordinators' view of the cluster, from an image; implements `MetadataView`."""

    def __init__(self, image: Callable[[], MetadataImage]) -> None:
        """`image` gives the newest one."""
        self._image: Final = image

    def topic(self, name: str) -> TopicView | None:
        """The topic of that name."""
        return _view(self._image().topics.topic(name))

    def topic_by_id(self, topic_id: Uuid) -> TopicView | None:
        """The topic with that id."""
        return _view(self._image().topics.by_id.get(topic_id))

    def topic_names(self) -> Iterable[str]:
        """All topics, in no order."""
        return self._image().topics.ids.keys()

    def partition_racks(self, topic: str, partition: int) -> frozenset[str]:
        """The racks of a partition's replicas."""
        found = self._partition(topic, partition)
        if found is None:
            return frozenset()
        brokers = self._image().cluster.brokers
        registered = (brokers.get(replica) for replica in found.replicas)
        return frozenset(broker.rack for broker in registered if broker is not None and broker.rack is not None)

    def partition_leader(self, topic: str, partition: int) -> PartitionLeader | None:
        """The leader of a partition; None if there is no such partition."""
        found = self._partition(topic, partition)
        return None if found is None else PartitionLeader(found.leader, found.leader_epoch)

    def is_broker_alive(self, broker_id: int) -> bool:
        """Whether that broker is registered and not fenced."""
        broker = self._image().cluster.brokers.get(broker_id)
        return broker is not None and not broker.fenced

    def feature_level(self, name: str) -> int:
        """The finalized level of a feature; 0 if it has none."""
        return self._image().features.level(name)

    def group_configs(self, group_id: str) -> Mapping[str, str]:
        """The configs that were set for that group."""
        return self._image().configs_of(ConfigResource(ResourceType.GROUP, group_id))

    def _partition(self, topic: str, partition: int) -> PartitionRegistration | None:
        topics = self._image().topics
        topic_id = topics.ids.get(topic)
        return None if topic_id is None else topics.partition(topic_id, partition)


def _view(topic: TopicImage | None) -> TopicView | None:
    return None if topic is None else TopicView(topic.name, topic.id, len(topic.partitions))
