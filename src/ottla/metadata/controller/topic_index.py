"""What the active controller finds without walking over all partitions.

`by_broker` has the topics of which a broker holds a replica: what fencing, unregistering or losing a directory must
look through. `leaderless`, `imbalanced` and `reassigning` hold the exceptional partitions. `colliding` has the names
that share a metric name. All of it follows from the image: built when the controller becomes active, then kept up with
each delta, and thrown away with the leadership.
"""

from collections.abc import Iterable, Iterator

from ottla.base.ids import Uuid
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.image.topic import TopicImage, TopicsImage
from ottla.metadata.image.topics_delta import TopicDelta, TopicsDelta
from ottla.metadata.topic_name import has_collision_chars, unify_collision_chars

TopicPartition = tuple[Uuid, int]


class TopicIndex:
    """The indexes of one `TopicsImage`."""

    def __init__(self, topics: TopicsImage) -> None:
        self.by_broker: dict[int, set[Uuid]] = {}
        self.colliding: dict[str, set[str]] = {}
        self._leaderless: set[TopicPartition] = set()
        self._imbalanced: set[TopicPartition] = set()
        self._reassigning: set[TopicPartition] = set()
        for topic in topics.by_id.values():
            self._topic_appeared(topic.name)
            for index, partition in enumerate(topic.partitions):
                self._partition_changed(topic.id, index, partition)

    def topics_of(self, topics: TopicsImage, broker_id: int) -> list[TopicImage]:
        """The topics of which the broker holds a replica, in the order of their ids, so that a run can be repeated."""
        return [topics.by_id[topic_id] for topic_id in sorted(self.by_broker.get(broker_id, ()))]

    def leaderless(self) -> list[TopicPartition]:
        """The partitions that nobody leads."""
        return sorted(self._leaderless)

    def imbalanced(self) -> list[TopicPartition]:
        """The partitions that their preferred replica does not lead."""
        return sorted(self._imbalanced)

    def reassigning(self) -> list[TopicPartition]:
        """The partitions whose replicas are being moved."""
        return sorted(self._reassigning)

    def update(self, delta: TopicsDelta) -> None:
        """Takes in what a delta changed."""
        for topic in delta.deleted.values():
            self._topic_removed(topic)
        for name in delta.created:
            self._topic_appeared(name)
        for changed in delta.changed.values():
            self._topic_changed(changed)

    def _topic_changed(self, delta: TopicDelta) -> None:
        for index, partition in delta.changes.items():
            self._partition_changed(delta.id, index, partition)
        known = len(delta.before.partitions)
        moved = [
            i for i, new in delta.changes.items() if i < known and delta.before.partitions[i].replicas != new.replicas
        ]
        if moved:
            # Only a look at all partitions tells whether a broker that left one still holds another.
            left = _brokers_of(delta.before.partitions) - _brokers_of(partition for _, partition in delta.partitions())
            for broker in left:
                self._broker_left(broker, delta.id)

    def _partition_changed(self, topic_id: Uuid, index: int, partition: PartitionRegistration) -> None:
        for broker in partition.replicas:
            topics = self.by_broker.get(broker)
            if topics is None:
                topics = self.by_broker[broker] = set()
            topics.add(topic_id)
        key = (topic_id, index)
        _mark(self._leaderless, key, marked=partition.leader == NO_LEADER)
        _mark(self._imbalanced, key, marked=partition.leader != partition.preferred_leader)
        _mark(self._reassigning, key, marked=partition.is_reassigning)

    def _topic_appeared(self, name: str) -> None:
        if has_collision_chars(name):
            self.colliding.setdefault(unify_collision_chars(name), set()).add(name)

    def _topic_removed(self, topic: TopicImage) -> None:
        for broker in _brokers_of(topic.partitions):
            self._broker_left(broker, topic.id)
        for index in range(len(topic.partitions)):
            for marks in (self._leaderless, self._imbalanced, self._reassigning):
                marks.discard((topic.id, index))
        if has_collision_chars(topic.name):
            unified = unify_collision_chars(topic.name)
            self.colliding[unified].discard(topic.name)
            if not self.colliding[unified]:
                del self.colliding[unified]

    def _broker_left(self, broker: int, topic_id: Uuid) -> None:
        self.by_broker[broker].discard(topic_id)
        if not self.by_broker[broker]:
            del self.by_broker[broker]


def _mark(marks: set[TopicPartition], key: TopicPartition, *, marked: bool) -> None:
    if marked:
        marks.add(key)
    elif marks:
        marks.discard(key)


def _brokers_of(partitions: Iterable[PartitionRegistration]) -> set[int]:
    return {broker for partition in partitions for broker in partition.replicas}


def partitions_with(
    topics: Iterable[TopicImage], broker_id: int, *, elr: bool = False
) -> Iterator[tuple[TopicImage, list[int]]]:
    """Of each topic, the partitions that have the broker in their ISR (with `elr`, or among the eligible leaders)."""
    for topic in topics:
        found = [
            index
            for index, partition in enumerate(topic.partitions)
            if broker_id in partition.isr or (elr and broker_id in partition.elr)
        ]
        if found:
            yield topic, found
