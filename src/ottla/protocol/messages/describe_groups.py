"""DescribeGroups (key 15): shows the state and the members of classic groups.

Sent by admin clients to the group coordinator. A group that is unknown, or not a classic one, reads as Dead without
error up to v5; v6 answers GROUP_ID_NOT_FOUND (KIP-1043). Metadata and assignment of members are filled only while the
group is Stable. `authorized_operations` is -2147483648 unless asked for (v3, KIP-430); v4 adds instance ids
(KIP-345).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, bytestring, int16, int32, string


class DescribeGroupsRequest(Request, api=ApiKey.DESCRIBE_GROUPS, versions="0-6", flexible="5+"):
    groups: list[str] = array(string, "0+")
    include_authorized_operations: bool = boolean("3+")


class DescribedGroupMember(Struct):
    member_id: str = string("0+")
    group_instance_id: str | None = string("4+", nullable="4+", default=None, ignorable=True)
    client_id: str = string("0+")
    client_host: str = string("0+")
    member_metadata: bytes = bytestring("0+")
    member_assignment: bytes = bytestring("0+")


class DescribedGroup(Struct):
    error_code: int = int16("0+")
    error_message: str | None = string("6+", nullable="6+", default=None)
    group_id: str = string("0+")
    group_state: str = string("0+")
    protocol_type: str = string("0+")
    protocol_data: str = string("0+")
    members: list[DescribedGroupMember] = array(DescribedGroupMember, "0+")
    authorized_operations: int = int32("3+", default=-2147483648)


class DescribeGroupsResponse(Response, api=ApiKey.DESCRIBE_GROUPS, versions="0-6", flexible="5+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    groups: list[DescribedGroup] = array(DescribedGroup, "0+")
