"""The committed offsets of all groups of a shard, and those that open transactions want to commit.

Persistent maps: a change makes a new state that shares the rest with the old one, and nested maps that would be empty
are not kept. Invariant: `open_transactions` has a producer for a partition exactly if `pending` has an offset of that
producer for it.
"""

from typing import Final, NamedTuple, TypeAlias

from immutables import Map

from ottla.base.ids import Uuid

NO_EXPIRY: Final = -1
NO_LEADER_EPOCH: Final = -1


class OffsetAndMetadata(NamedTuple):
    """A position that a group committed. `record_offset` is where in the shard's log it is written."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int
    """When it ends by the wish of an old client's commit; -1 if the broker's retention decides."""
    topic_id: Uuid
    """Zero if the commit named the topic."""
    record_offset: int


TopicOffsets: TypeAlias = Map[int, OffsetAndMetadata]
GroupOffsets: TypeAlias = Map[str, TopicOffsets]
Offsets: TypeAlias = Map[str, GroupOffsets]
"""By group, topic and partition."""
OpenTransactions: TypeAlias = Map[str, Map[str, Map[int, frozenset[int]]]]
"""The ids of producers, by group, topic and partition."""


class OffsetsState(NamedTuple):
    """Offsets of a shard, and how many of them are committed."""

    committed: Offsets
    pending: Map[int, Offsets]
    """Offsets of open transactions, by producer id."""
    open_transactions: OpenTransactions
    committed_count: int

    def offset(self, group_id: str, topic: str, partition: int) -> OffsetAndMetadata | None:
        """The committed offset of a partition."""
        return find(self.committed, group_id, topic, partition)

    def has_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether an open transaction may still change the offset of a partition."""
        topics = self.open_transactions.get(group_id)
        partitions = None if topics is None else topics.get(topic)
        return partitions is not None and partition in partitions

    def is_idle(self, group_id: str) -> bool:
        """Whether a group has neither committed offsets nor open transactions."""
        return group_id not in self.committed and group_id not in self.open_transactions


EMPTY_OFFSETS: Final = OffsetsState(Map(), Map(), Map(), 0)


def find(offsets: Offsets, group_id: str, topic: str, partition: int) -> OffsetAndMetadata | None:
    """An offset, if it is there."""
    topics = offsets.get(group_id)
    if topics is None:
        return None
    partitions = topics.get(topic)
    return None if partitions is None else partitions.get(partition)


def with_offset(offsets: Offsets, group_id: str, topic: str, partition: int, value: OffsetAndMetadata) -> Offsets:
    """The map with one more offset, or another."""
    topics = offsets.get(group_id)
    if topics is None:
        return offsets.set(group_id, Map({topic: Map({partition: value})}))
    partitions = topics.get(topic)
    changed = Map({partition: value}) if partitions is None else partitions.set(partition, value)
    return offsets.set(group_id, topics.set(topic, changed))


def without_offset(offsets: Offsets, group_id: str, topic: str, partition: int) -> Offsets:
    """The map without an offset, which must be in there."""
    topics = offsets[group_id]
    partitions = topics[topic].delete(partition)
    if partitions:
        return offsets.set(group_id, topics.set(topic, partitions))
    topics = topics.delete(topic)
    return offsets.set(group_id, topics) if topics else offsets.delete(group_id)


def with_transaction(
    transactions: OpenTransactions, group_id: str, topic: str, partition: int, producer_id: int
) -> OpenTransactions:
    """The map with one more producer that has an offset pending."""
    topics = transactions.get(group_id, _NO_TOPICS)
    partitions = topics.get(topic, _NO_PARTITIONS)
    producers = partitions.get(partition, frozenset()) | {producer_id}
    return transactions.set(group_id, topics.set(topic, partitions.set(partition, producers)))


def without_transaction(
    transactions: OpenTransactions, group_id: str, topic: str, partition: int, producer_id: int
) -> OpenTransactions:
    """The map without a producer, which must be in there."""
    topics = transactions[group_id]
    partitions = topics[topic]
    producers = partitions[partition] - {producer_id}
    partitions = partitions.set(partition, producers) if producers else partitions.delete(partition)
    topics = topics.set(topic, partitions) if partitions else topics.delete(topic)
    return transactions.set(group_id, topics) if topics else transactions.delete(group_id)


_NO_TOPICS: Final[Map[str, Map[int, frozenset[int]]]] = Map()
_NO_PARTITIONS: Final[Map[int, frozenset[int]]] = Map()
