"""ListGroups (key 16): lists the groups that a broker coordinates.

Sent by admin clients to every broker, since each knows only its own. Empty filters let everything pass. v4 filters by
state and returns it (KIP-518), v5 does the same for the type: classic, consumer, share, streams (KIP-848). Groups
that the caller may not describe are left out silently.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string


class ListGroupsRequest(Request, api=ApiKey.LIST_GROUPS, versions="0-5", flexible="3+"):
    states_filter: list[str] = array(string, "4+")
    types_filter: list[str] = array(string, "5+")


class ListedGroup(Struct):
    group_id: str = string("0+")
    protocol_type: str = string("0+")
    group_state: str = string("4+", ignorable=True)
    group_type: str = string("5+", ignorable=True)


class ListGroupsResponse(Response, api=ApiKey.LIST_GROUPS, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16("0+")
    groups: list[ListedGroup] = array(ListedGroup, "0+")
