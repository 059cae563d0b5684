"""Heartbeat (key 12): keeps a member of a classic group alive.

Sent by each member to the group coordinator, several times per session timeout. REBALANCE_IN_PROGRESS asks the member
to join again; ILLEGAL_GENERATION and UNKNOWN_MEMBER_ID say that the group went on without it. v3 knows static members
(KIP-345): FENCED_INSTANCE_ID means that another process took the instance id over. Consumer groups use
ConsumerGroupHeartbeat.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, string


class HeartbeatRequest(Request, api=ApiKey.HEARTBEAT, versions="0-4", flexible="4+"):
    group_id: str = string("0+")
    generation_id: int = int32("0+")
    member_id: str = string("0+")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)


class HeartbeatResponse(Response, api=ApiKey.HEARTBEAT, versions="0-4", flexible="4+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16("0+")
