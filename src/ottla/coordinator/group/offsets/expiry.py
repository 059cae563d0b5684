"""The end of offsets by time (KIP-211).

An offset expires once the group has had no use for it for `offsets.retention.minutes`: counted from when the group
became empty, from the commit where there never were members or where the members left just this topic. The group's
rules say which. An offset whose commit brought its own retention time, as clients before OffsetCommit v5 could, ends
then, whatever the broker's setting.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from immutables import Map

from ottla.coordinator.group.offsets.offset_rules import OffsetRules
from ottla.coordinator.group.offsets.offsets_state import NO_EXPIRY, GroupOffsets, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import offset_tombstone
from ottla.protocol.coordinator_record import CoordinatorRecord


class OffsetStretch(NamedTuple):
    """Some partitions of a topic that a group had offsets for."""

    group_id: str
    topic: str
    partitions: Sequence[int]


def expire(
    state: OffsetsState, stretch: OffsetStretch, rules: OffsetRules, now_ms: int, *, retention_ms: int
) -> list[CoordinatorRecord]:
    """The tombstones of the offsets that have expired by `now_ms`.

    An offset that an open transaction may change waits for its end.
    """
    group_id, topic, partitions = stretch
    stored = state.committed.get(group_id, _NO_TOPICS).get(topic)
    if stored is None or rules.is_subscribed(topic):
        return []
    return [
        offset_tombstone(group_id, topic, partition)
        for partition in partitions
        if (offset := stored.get(partition)) is not None
        and _is_expired(offset, rules, now_ms, retention_ms)
        and not state.has_pending(group_id, topic, partition)
    ]


def is_bare(state: OffsetsState, group_id: str, *, expired: int) -> bool:
    """Whether nothing keeps an empty group once `expired` of the offsets that it still has are gone."""
    topics = state.committed.get(group_id, _NO_TOPICS)
    return group_id not in state.open_transactions and sum(map(len, topics.values())) == expired


def _is_expired(stored: OffsetAndMetadata, rules: OffsetRules, now_ms: int, retention_ms: int) -> bool:
    """Committed at 1,000 with retention 500, and counted from then: expired from 1,500 on."""
    from_ms = rules.expires_from_ms(stored.commit_timestamp_ms)
    if from_ms is None:
        return False
    if stored.expire_timestamp_ms != NO_EXPIRY:
        return now_ms >= stored.expire_timestamp_ms
    return now_ms - from_ms >= retention_ms


_NO_TOPICS: Final[GroupOffsets] = Map()
