"""DeleteGroups (key 42): deletes groups and their offsets (KIP-229).

Sent by admin clients to the group coordinator, for groups of every type. Each group has its own result:
NON_EMPTY_GROUP while it has members, GROUP_ID_NOT_FOUND if there is none.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string


class DeleteGroupsRequest(Request, api=ApiKey.DELETE_GROUPS, versions="0-2", flexible="2+"):
    groups_names: list[str] = array(string, "0+")


class DeletableGroupResult(Struct):
    group_id: str = string("0+")
    error_code: int = int16("0+")


class DeleteGroupsResponse(Response, api=ApiKey.DELETE_GROUPS, versions="0-2", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    results: list[DeletableGroupResult] = array(DeletableGroupResult, "0+")
