"""SyncGroup (key 14): hands out the assignments of a classic group after JoinGroup.

Sent by members to the group coordinator. The leader sends all assignments, the others an empty array; each
answer waits for the leader and holds that member's own. The bytes mean nothing to the broker; consumers put
`ottla.protocol.consumer_protocol` there. v3 knows static members (KIP-345). v5 repeats the protocol's type and name,
refused as INCONSISTENT_GROUP_PROTOCOL if they aren't the group's (KIP-559).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, bytestring, int16, int32, string


class SyncGroupRequestAssignment(Struct):
    member_id: str = string("0+")
    assignment: bytes = bytestring("0+")


class SyncGroupRequest(Request, api=ApiKey.SYNC_GROUP, versions="0-5", flexible="4+"):
    group_id: str = string("0+")
    generation_id: int = int32("0+")
    member_id: str = string("0+")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    protocol_type: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment, "0+")


class SyncGroupResponse(Response, api=ApiKey.SYNC_GROUP, versions="0-5", flexible="4+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16("0+")
    protocol_type: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = bytestring("0+")
