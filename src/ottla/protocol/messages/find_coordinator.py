"""FindCoordinator (key 10): tells which broker coordinates a group, a transactional id or a share partition.

Sent by clients, and by brokers for share partitions; any broker answers. `key_type` is 0 for a group, 1 for a
transactional id, 2 for a share partition, written groupId:topicId:partition (v6, KIP-932). v4 takes several keys
(KIP-699): the answer then sits in `coordinators` and no longer at the top. A lookup also creates the internal topic
it needs; until that has a leader the error is COORDINATOR_NOT_AVAILABLE.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, string


class FindCoordinatorRequest(Request, api=ApiKey.FIND_COORDINATOR, versions="0-6", flexible="3+"):
    key: str = string("0-3")
    key_type: int = int8("1+")
    coordinator_keys: list[str] = array(string, "4+")


class Coordinator(Struct):
    key: str = string("4+")
    node_id: int = int32("4+")
    host: str = string("4+")
    port: int = int32("4+")
    error_code: int = int16("4+")
    error_message: str | None = string("4+", nullable="4+", ignorable=True)


class FindCoordinatorResponse(Response, api=ApiKey.FIND_COORDINATOR, versions="0-6", flexible="3+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16("0-3")
    error_message: str | None = string("1-3", nullable="1-3", ignorable=True)
    node_id: int = int32("0-3")
    host: str = string("0-3")
    port: int = int32("0-3")
    coordinators: list[Coordinator] = array(Coordinator, "4+")
