"""The end of offsets by time (KIP-211).

An offset expires once the group has had no use for it for `offsets.retention.minutes`: counted from when the group
became empty, from the commit where there never were members or where the members left just this topic. The group's
rules say which. An offset whose commit brought its own retention time, as clients before OffsetCommit v5 could, ends
then, whatever the broker's setting.
"""

from typing import NamedTuple

from ottla.coordinator.group.offsets.offset_rules import OffsetRules
from ottla.coordinator.group.offsets.offsets_state import NO_EXPIRY, OffsetAndMetadata, OffsetsState
from ottla.coordinator.group.offsets.record import offset_tombstone
from ottla.protocol.coordinator_record import CoordinatorRecord


class Expired(NamedTuple):
    """The tombstones of what has expired in a group, and whether nothing is left that would keep an empty group."""

    records: list[CoordinatorRecord]
    is_bare: bool


def expire(state: OffsetsState, group_id: str, rules: OffsetRules, now_ms: int, *, retention_ms: int) -> Expired:
    """What of a group's offsets has expired by `now_ms`.

    An offset that an open transaction may change waits for its end, and so does the group.
    """
    records: list[CoordinatorRecord] = []
    is_bare = group_id not in state.open_transactions
    for topic, partitions in sorted(state.committed.get(group_id, {}).items()):
        if rules.is_subscribed(topic):
            is_bare = False
            continue
        for partition, stored in partitions.items():
            if state.has_pending(group_id, topic, partition) or not _is_expired(stored, rules, now_ms, retention_ms):
                is_bare = False
            else:
                records.append(offset_tombstone(group_id, topic, partition))
    return Expired(records, is_bare)


def _is_expired(stored: OffsetAndMetadata, rules: OffsetRules, now_ms: int, retention_ms: int) -> bool:
    """Committed at 1,000 with retention 500, and counted from then: expired from 1,500 on."""
    from_ms = rules.expires_from_ms(stored.commit_timestamp_ms)
    if from_ms is None:
        return False
    if stored.expire_timestamp_ms != NO_EXPIRY:
        return now_ms >= stored.expire_timestamp_ms
    return now_ms - from_ms >= retention_ms
