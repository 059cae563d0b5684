"""Committed offsets in `__consumer_offsets`."""

from ottla.base.ids import Uuid
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorValue
from ottla.protocol.field import int32, int64, string, uuid


class LegacyOffsetCommitKey(CoordinatorKey, type_id=0, versions="0"):
    group: str = string("0")
    topic: str = string("0")
    partition: int = int32("0")


class LegacyOffsetCommitValue(CoordinatorValue, type_id=0, versions="0"):
    offset: int = int64("0")
    metadata: str = string("0")
    commit_timestamp: int = int64("0")


class OffsetCommitKey(CoordinatorKey, type_id=1, versions="0"):
    group: str = string("0")
    topic: str = string("0")
    partition: int = int32("0")


class OffsetCommitValue(CoordinatorValue, type_id=1, versions="0-4", flexible="4+"):
    offset: int = int64("0+")
    leader_epoch: int = int32("3+", default=-1, ignorable=True)
    metadata: str = string("0+")
    commit_timestamp: int = int64("0+")
    expire_timestamp: int = int64("1", default=-1, ignorable=True)
    topic_id: Uuid = uuid("4+", tag=0, ignorable=True)
