"""Replays the records of offsets.

A transactional commit stays pending until its producer's marker. A commit marker makes it count unless an offset that
stands later in the log is there already:

    5: transactional commit of 10 by producer 1    6: plain commit of 20    7: commit marker of producer 1 → 20 stays,
    for it was written after the 10; compaction, which keeps the last record of a key, comes to the same.
"""

from typing import Final

from immutables import Map

from ottla.base.ids import ZERO_UUID
from ottla.coordinator.group.offsets.offsets_state import (
    NO_EXPIRY,
    NO_LEADER_EPOCH,
    OffsetAndMetadata,
    Offsets,
    OffsetsState,
    find,
    with_offset,
    with_transaction,
    without_offset,
    without_transaction,
)
from ottla.coordinator.runtime.loading import NO_PRODUCER_ID
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.offset import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

_NO_OFFSETS: Final[Offsets] = Map()
_KEY_TYPES: Final = (OffsetCommitKey, LegacyOffsetCommitKey)


def replay_offset(state: OffsetsState, record: CoordinatorRecord, offset: int, producer_id: int) -> OffsetsState:
    """The state after an offset's record of either type, which stands at `offset`."""
    key, value, _ = record
    if not isinstance(key, _KEY_TYPES):
        raise TypeError(f"{type(key).__name__} is no key of an offset")
    group_id, topic, partition = key.group, key.topic, key.partition
    if value is None:
        return _forget(state, group_id, topic, partition)
    if isinstance(value, OffsetCommitValue):
        fields = (
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            value.topic_id,
            offset,
        )
        # Half the cost of the constructor, which would take the values apart to put them together again.
        stored = tuple.__new__(OffsetAndMetadata, fields)
    else:
        stored = _of_legacy(value, offset)
    committed, pending, transactions, count = state
    if producer_id == NO_PRODUCER_ID:
        is_new = find(committed, group_id, topic, partition) is None
        committed = with_offset(committed, group_id, topic, partition, stored)
        return OffsetsState(committed, pending, transactions, count + is_new)
    of_producer = with_offset(pending.get(producer_id, _NO_OFFSETS), group_id, topic, partition, stored)
    transactions = with_transaction(transactions, group_id, topic, partition, producer_id)
    return OffsetsState(committed, pending.set(producer_id, of_producer), transactions, count)


def replay_offset_marker(state: OffsetsState, producer_id: int, *, committed: bool) -> OffsetsState:
    """The state after the end of a producer's transaction: what was pending counts from now on, or is dropped."""
    ended = state.pending.get(producer_id)
    if ended is None:
        return state
    offsets, pending, transactions, count = state
    for group_id, topics in ended.items():
        for topic, partitions in topics.items():
            for partition, stored in partitions.items():
                transactions = without_transaction(transactions, group_id, topic, partition, producer_id)
                if not committed:
                    continue
                present = find(offsets, group_id, topic, partition)
                if present is None or stored.record_offset > present.record_offset:
                    offsets = with_offset(offsets, group_id, topic, partition, stored)
                    count += present is None
    return OffsetsState(offsets, pending.delete(producer_id), transactions, count)


def _forget(state: OffsetsState, group_id: str, topic: str, partition: int) -> OffsetsState:
    """After a tombstone nothing is left of an offset, pending ones included: they were written before it."""
    committed, pending, transactions, count = state
    if find(committed, group_id, topic, partition) is not None:
        committed = without_offset(committed, group_id, topic, partition)
        count -= 1
    if state.has_pending(group_id, topic, partition):
        for producer_id in transactions[group_id][topic][partition]:
            of_producer = without_offset(pending[producer_id], group_id, topic, partition)
            pending = pending.set(producer_id, of_producer) if of_producer else pending.delete(producer_id)
            transactions = without_transaction(transactions, group_id, topic, partition, producer_id)
    return OffsetsState(committed, pending, transactions, count)


def _of_legacy(value: object, offset: int) -> OffsetAndMetadata:
    if not isinstance(value, LegacyOffsetCommitValue):
        raise TypeError(f"{type(value).__name__} is no value of an offset")
    return OffsetAndMetadata(
        value.offset, NO_LEADER_EPOCH, value.metadata, value.commit_timestamp, NO_EXPIRY, ZERO_UUID, offset
    )
