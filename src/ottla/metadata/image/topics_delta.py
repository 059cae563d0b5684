"""Changes to topics: created, deleted, and what became of which partition.

A topic that is deleted and created again under the same name is two topics with two ids. A topic that comes and goes
within one delta leaves no trace.
"""

from collections.abc import Iterator

from ottla.base.ids import Uuid
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.partition import PartitionRegistration, partition_of
from ottla.metadata.image.topic import TopicImage, TopicsImage
from ottla.protocol.metadata_log.topic import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)


class TopicDelta:
    """A change of one topic: `before` as it was (without partitions if it is new), `changes` by partition."""

    __slots__ = ("before", "changes")

    def __init__(self, before: TopicImage) -> None:
        self.before = before
        self.changes: dict[int, PartitionRegistration] = {}

    @property
    def name(self) -> str:
        return self.before.name

    @property
    def id(self) -> Uuid:
        return self.before.id

    def partition_before(self, index: int) -> PartitionRegistration | None:
        """The partition as it was, if it was there."""
        partitions = self.before.partitions
        return partitions[index] if 0 <= index < len(partitions) else None

    def partition(self, index: int) -> PartitionRegistration | None:
        """The partition with the changes so far."""
        return self.changes.get(index) or self.partition_before(index)

    def partitions(self) -> Iterator[tuple[int, PartitionRegistration]]:
        """All partitions with the changes so far."""
        for index in sorted({*range(len(self.before.partitions)), *self.changes}):
            partition = self.partition(index)
            if partition is not None:
                yield index, partition

    def apply(self) -> TopicImage:
        """The topic with all changes; `MetadataError` if they leave a gap."""
        changes = self.changes
        count = len(self.before.partitions)
        partitions = list(self.before.partitions)
        for index in sorted(changes) if len(changes) > 1 else changes:
            if index < count:
                partitions[index] = changes[index]
            elif index == len(partitions):
                partitions.append(changes[index])
            else:
                raise MetadataError(
                    f"partition {index} of topic {self.name} has no partition {len(partitions)} before it"
                )
        return TopicImage(self.before.name, self.before.id, tuple(partitions))


class TopicsDelta:
    """A change of `base`: `created` and `deleted` topics, and `changed` ones, which include the created."""

    def __init__(self, base: TopicsImage) -> None:
        self.base = base
        self.created: dict[str, Uuid] = {}
        self.deleted: dict[Uuid, TopicImage] = {}
        self.changed: dict[Uuid, TopicDelta] = {}

    def replay_topic(self, record: TopicRecord) -> None:
        existing = self._id_of(record.name)
        if existing is not None:
            raise MetadataError(f"topic {record.name} exists as {existing}, and again as {record.topic_id}")
        self.created[record.name] = record.topic_id
        self.changed[record.topic_id] = TopicDelta(TopicImage(record.name, record.topic_id, ()))

    def replay_partition(self, record: PartitionRecord) -> None:
        topic = self.changed.get(record.topic_id) or self._opened(record.topic_id)
        topic.changes[record.partition_id] = partition_of(record)

    def replay_partition_change(self, record: PartitionChangeRecord) -> None:
        topic = self.changed.get(record.topic_id) or self._opened(record.topic_id)
        partition = topic.partition(record.partition_id)
        if partition is None:
            raise MetadataError(f"a change of partition {topic.name}-{record.partition_id}, which does not exist")
        topic.changes[record.partition_id] = partition.merge(record)

    def replay_remove_topic(self, record: RemoveTopicRecord) -> str:
        """Removes the topic and says its name, whose configs go with it."""
        name = self._opened(record.topic_id).name
        del self.changed[record.topic_id]
        if self.created.get(name) == record.topic_id:
            del self.created[name]
        else:
            self.deleted[record.topic_id] = self.base.by_id[record.topic_id]
        return name

    def replay_clear_elr(self, record: ClearElrRecord) -> None:
        """Clears the eligible leader replicas of one topic, or of all if the record names none."""
        if record.topic_name:
            topic_id = self._id_of(record.topic_name)
            if topic_id is None:
                raise MetadataError(f"eligible leader replicas of topic {record.topic_name}, which does not exist")
            self._clear_elr(topic_id)
            return
        for topic_id in [*sorted(self.base.by_id), *self.created.values()]:
            if topic_id not in self.deleted:
                self._clear_elr(topic_id)

    def apply(self) -> TopicsImage:
        """The topics with all changes; `base` itself if there are none."""
        if not self.changed and not self.deleted:
            return self.base
        by_id = self.base.by_id.mutate()
        ids = self.base.ids.mutate()
        for topic_id, topic in self.deleted.items():
            del by_id[topic_id]
            del ids[topic.name]
        for topic_id, delta in self.changed.items():
            by_id[topic_id] = delta.apply()
        for name, topic_id in self.created.items():
            ids[name] = topic_id
        return TopicsImage(by_id.finish(), ids.finish())

    def _id_of(self, name: str) -> Uuid | None:
        topic_id = self.created.get(name) or self.base.ids.get(name)
        return None if topic_id in self.deleted else topic_id

    def _opened(self, topic_id: Uuid) -> TopicDelta:
        delta = self.changed.get(topic_id)
        if delta is None:
            topic = self.base.by_id.get(topic_id)
            if topic is None or topic_id in self.deleted:
                raise MetadataError(f"a change of topic {topic_id}, which does not exist")
            delta = self.changed[topic_id] = TopicDelta(topic)
        return delta

    def _clear_elr(self, topic_id: Uuid) -> None:
        delta = self.changed.get(topic_id) or TopicDelta(self.base.by_id[topic_id])
        cleared = {
            index: partition.without_elr()
            for index, partition in delta.partitions()
            if partition.elr or partition.last_known_elr
        }
        if cleared:
            delta.changes.update(cleared)
            self.changed[topic_id] = delta
