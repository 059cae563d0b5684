"""AddRaftVoter (key 80): makes a controller a voter of the metadata quorum (KIP-853).

Sent by admin clients, or by a controller for itself, to the quorum's leader; brokers forward it. The voter must be
caught up, and only one change runs at a time. It needs kraft.version 1. A null `cluster_id` isn't checked. In v1
`ack_when_committed` false gets the answer once the leader has written the change itself (KIP-1186), so that a
controller that adds itself can go on fetching.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, string, uint16, uuid


class Listener(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")


class AddRaftVoterRequest(Request, api=ApiKey.ADD_RAFT_VOTER, versions="0-1", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+")
    timeout_ms: int = int32("0+")
    voter_id: int = int32("0+")
    voter_directory_id: Uuid = uuid("0+")
    listeners: list[Listener] = array(Listener, "0+")
    ack_when_committed: bool = boolean("1+", default=True)


class AddRaftVoterResponse(Response, api=ApiKey.ADD_RAFT_VOTER, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", ignorable=True)
