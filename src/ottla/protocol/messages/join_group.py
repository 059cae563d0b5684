"""JoinGroup (key 11): enters a classic group, or takes part in its rebalance.

Sent by members to the group coordinator, which answers when all have joined or the rebalance timeout passed (in v0
the session timeout). Only the leader's answer lists `members`. A first join has an empty `member_id`; from v4 it gets
MEMBER_ID_REQUIRED and an id to join with (KIP-394), except for static members, who give `group_instance_id` (v5,
KIP-345). v8 adds the reason (KIP-800); in v9 `skip_assignment` tells a returning static leader to leave the
assignment alone (KIP-814).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, bytestring, int16, int32, string


class JoinGroupRequestProtocol(Struct):
    name: str = string("0+")
    metadata: bytes = bytestring("0+")


class JoinGroupRequest(Request, api=ApiKey.JOIN_GROUP, versions="0-9", flexible="6+"):
    group_id: str = string("0+")
    session_timeout_ms: int = int32("0+")
    rebalance_timeout_ms: int = int32("1+", default=-1, ignorable=True)
    member_id: str = string("0+")
    group_instance_id: str | None = string("5+", nullable="5+", default=None)
    protocol_type: str = string("0+")
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol, "0+")
    reason: str | None = string("8+", nullable="8+", default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: str = string("0+")
    group_instance_id: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    metadata: bytes = bytestring("0+")


class JoinGroupResponse(Response, api=ApiKey.JOIN_GROUP, versions="0-9", flexible="6+"):
    throttle_time_ms: int = int32("2+", ignorable=True)
    error_code: int = int16("0+")
    generation_id: int = int32("0+", default=-1)
    protocol_type: str | None = string("7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = string("0+", nullable="7+")
    leader: str = string("0+")
    skip_assignment: bool = boolean("9+")
    member_id: str = string("0+")
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember, "0+")
