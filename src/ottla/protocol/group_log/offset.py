"""Committed offsets in `__consumer_offsets`.

Written by OffsetCommit, and by TxnOffsetCommit in transactional batches that count once their marker is there. A
tombstone means deleted or expired. Type 0 is what old brokers wrote and is only read; type 1 is the present one.

v1 carries `expire_timestamp` and is still written when the client of an old OffsetCommit sets a retention time; v2
drops it (KIP-211), v3 adds the leader epoch (KIP-320), -1 if unknown. v4 is flexible (KIP-915) and is written
otherwise; its tagged `topic_id` is zero when the commit named the topic.
"""

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
