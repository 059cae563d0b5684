"""A delta's effect on one broker: the partitions that it now leads, follows, or drops."""

from typing import NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.topics_delta import TopicDelta, TopicsDelta


class LocalPartition(NamedTuple):
    """A partition that a broker holds, by name and id."""

    topic: str
    topic_id: Uuid
    partition: int


class LocalReplicaChanges(NamedTuple):
    """The changed partitions of one broker, in the order of topic and index."""

    deleted: list[LocalPartition]
    """No longer on this broker: the topic is gone, or its replica was moved away."""
    leaders: dict[LocalPartition, PartitionRegistration]
    """Led by this broker, with any change; `elected` of them in a new leader epoch."""
    elected: dict[LocalPartition, PartitionRegistration]
    followers: dict[LocalPartition, PartitionRegistration]
    directories: dict[LocalPartition, Uuid]
    """Where a replica is now said to live, if that is new."""


def local_changes(delta: TopicsDelta, broker_id: int) -> LocalReplicaChanges:
    """The part of `delta` that concerns the broker."""
    changes = LocalReplicaChanges([], {}, {}, {}, {})
    for topic in sorted(delta.deleted.values(), key=lambda topic: topic.name):
        changes.deleted.extend(
            LocalPartition(topic.name, topic.id, index)
            for index, partition in enumerate(topic.partitions)
            if broker_id in partition.replicas
        )
    for changed in sorted(delta.changed.values(), key=lambda changed: changed.name):
        for index in sorted(changed.changes):
            _partition_changed(changes, changed, index, broker_id)
    return changes


def _partition_changed(changes: LocalReplicaChanges, topic: TopicDelta, index: int, broker_id: int) -> None:
    before, after = topic.partition_before(index), topic.changes[index]
    partition = LocalPartition(topic.name, topic.id, index)
    if broker_id not in after.replicas:
        if before is not None and broker_id in before.replicas:
            changes.deleted.append(partition)
        return
    directory = after.directory(broker_id)
    if directory is not None and (before is None or before.directory(broker_id) != directory):
        changes.directories[partition] = directory
    if before is not None and before.partition_epoch == after.partition_epoch:
        return
    if after.leader != broker_id:
        changes.followers[partition] = after
        return
    changes.leaders[partition] = after
    if before is None or before.leader_epoch != after.leader_epoch:
        changes.elected[partition] = after
