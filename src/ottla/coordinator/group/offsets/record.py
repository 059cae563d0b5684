"""The records that operations on offsets write."""

from typing import Final

from ottla.coordinator.group.offsets.offsets_state import NO_EXPIRY, OffsetAndMetadata
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.group_log.offset import OffsetCommitKey, OffsetCommitValue

PRESENT_VERSION: Final = 4
_EXPIRING_VERSION: Final = 1
"""The only version with a place for the retention time that clients could set until OffsetCommit v4 (KIP-211)."""
_NO_VALUE: Final = -1


def offset_record(group_id: str, topic: str, partition: int, stored: OffsetAndMetadata) -> CoordinatorRecord:
    """Says that a group committed an offset."""
    value = OffsetCommitValue(
        offset=stored.offset,
        leader_epoch=stored.leader_epoch,
        metadata=stored.metadata,
        commit_timestamp=stored.commit_timestamp_ms,
        expire_timestamp=stored.expire_timestamp_ms,
        topic_id=stored.topic_id,
    )
    version = PRESENT_VERSION if stored.expire_timestamp_ms == NO_EXPIRY else _EXPIRING_VERSION
    return CoordinatorRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), value, version)


def offset_tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    """Says that an offset is no more."""
    return CoordinatorRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), None, _NO_VALUE)
