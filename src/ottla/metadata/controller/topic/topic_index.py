"""Indexes of the active controller, which spare it walks over all partitions.

`by_broker` has the topics of which a broker holds a replica, and of how many partitions: what fencing, unregistering or
losing a directory must look through. `leader_count` is how many it leads. `leaderless`, `imbalanced` and `reassigning`
hold the exceptional partitions. `colliding` has the names that share a metric name. All of it follows from the image:
built when the controller becomes active, then kept up with each delta, and thrown away with the leadership.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from ottla.base.ids import Uuid
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.image.topic import TopicImage, TopicsImage
from ottla.metadata.image.topics_delta import TopicDelta, TopicsDelta
from ottla.metadata.topic_name import has_collision_chars, unify_collision_chars

TopicPartition = tuple[Uuid, int]
K = TypeVar("K", bound=Hashable)


class TopicIndex:
    """The indexes of one `TopicsImage`."""

    def __init__(self, topics: TopicsImage) -> None:
        self.by_broker: dict[int, dict[Uuid, int]] = {}
        self.colliding: dict[str, set[str]] = {}
        self._leader_counts: dict[int, int] = {}
        self._leaderless: set[TopicPartition] = set()
        self._imbalanced: set[TopicPartition] = set()
        self._reassigning: set[TopicPartition] = set()
        for topic in topics.by_id.values():
            self._topic_appeared(topic.name)
            for index, partition in enumerate(topic.partitions):
                self._partition_changed((topic.id, index), None, partition)

    def topics_of(self, topics: TopicsImage, broker_id: int) -> list[TopicImage]:
        """The topics of which the broker holds a replica, in the order of their ids, so that a run can be repeated."""
        return [topics.by_id[topic_id] for topic_id in sorted(self.by_broker.get(broker_id, ()))]

    def leader_count(self, broker_id: int) -> int:
        """The number of partitions that the broker leads."""
        return self._leader_counts.get(broker_id, 0)

    def leaderless(self) -> list[TopicPartition]:
        """The partitions without a leader."""
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
            self._partition_changed((delta.id, index), delta.partition_before(index), partition)

    def _partition_changed(
        self, key: TopicPartition, before: PartitionRegistration | None, partition: PartitionRegistration
    ) -> None:
        """Most changes are of the ISR alone, and leave everything here as it is."""
        replicas, leader = partition.replicas, partition.leader
        is_led_anew = before is None or before.leader != leader
        is_moved = before is None or before.replicas != replicas
        if is_moved:
            self._replicas_changed(key[0], () if before is None else before.replicas, replicas)
        if is_led_anew:
            if before is not None:
                _count(self._leader_counts, before.leader, -1)
            _count(self._leader_counts, leader, 1)
            _mark(self._leaderless, key, marked=leader == NO_LEADER)
        if is_led_anew or is_moved:
            _mark(self._imbalanced, key, marked=leader != partition.preferred_leader)
        if partition.is_reassigning or (before is not None and before.is_reassigning):
            _mark(self._reassigning, key, marked=partition.is_reassigning)

    def _replicas_changed(self, topic_id: Uuid, before: Iterable[int], after: Iterable[int]) -> None:
        for broker in after:
            topics = self.by_broker.get(broker)
            if topics is None:
                topics = self.by_broker[broker] = {}
            topics[topic_id] = topics.get(topic_id, 0) + 1
        for broker in before:
            topics = self.by_broker[broker]
            _count(topics, topic_id, -1)
            if not topics:
                del self.by_broker[broker]

    def _topic_appeared(self, name: str) -> None:
        if has_collision_chars(name):
            self.colliding.setdefault(unify_collision_chars(name), set()).add(name)

    def _topic_removed(self, topic: TopicImage) -> None:
        for index, partition in enumerate(topic.partitions):
            _count(self._leader_counts, partition.leader, -1)
            self._replicas_changed(topic.id, partition.replicas, ())
            for marks in (self._leaderless, self._imbalanced, self._reassigning):
                marks.discard((topic.id, index))
        if has_collision_chars(topic.name):
            unified = unify_collision_chars(topic.name)
            self.colliding[unified].discard(topic.name)
            if not self.colliding[unified]:
                del self.colliding[unified]


def _count(counts: dict[K, int], key: K, change: int) -> None:
    """Counts up or down; what there is none of is not kept."""
    count = counts.get(key, 0) + change
    if count:
        counts[key] = count
    else:
        del counts[key]


def _mark(marks: set[TopicPartition], key: TopicPartition, *, marked: bool) -> None:
    if marked:
        marks.add(key)
    elif marks:
        marks.discard(key)


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
