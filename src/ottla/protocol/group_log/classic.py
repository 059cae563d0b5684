"""Classic groups in `__consumer_offsets`.

The whole group in one record, written when a rebalance ends, when the group empties and when a static member returns;
the tombstone says that it is gone. `protocol` and `leader` are null in an empty group. `subscription` and
`assignment` are the bytes of JoinGroup and SyncGroup (see `ottla.protocol.consumer_protocol`). v1 adds the rebalance
timeout, v2 the time of the last change of state, from which offsets expire (KIP-211), v3 the instance id (KIP-345).
v4 is flexible, so that whatever comes later can be a tagged field that older brokers skip (KIP-915).
"""

from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorValue
from ottla.protocol.definition import Struct
from ottla.protocol.field import array, bytestring, int32, int64, string


class GroupMetadataKey(CoordinatorKey, type_id=2, versions="0"):
    group: str = string("0")


class MemberMetadata(Struct):
    member_id: str = string("0+")
    group_instance_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)
    client_id: str = string("0+")
    client_host: str = string("0+")
    rebalance_timeout: int = int32("1+", default=-1, ignorable=True)
    session_timeout: int = int32("0+")
    subscription: bytes = bytestring("0+")
    assignment: bytes = bytestring("0+")


class GroupMetadataValue(CoordinatorValue, type_id=2, versions="0-4", flexible="4+"):
    protocol_type: str = string("0+")
    generation: int = int32("0+")
    protocol: str | None = string("0+", nullable="0+")
    leader: str | None = string("0+", nullable="0+")
    current_state_timestamp: int = int64("2+", default=-1, ignorable=True)
    members: list[MemberMetadata] = array(MemberMetadata, "0+")
