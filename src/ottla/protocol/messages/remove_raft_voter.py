"""RemoveRaftVoter (key 81): takes a voter out of the metadata quorum (KIP-853).

Sent by admin clients to the quorum's leader; brokers forward it. Id and directory must both match, so a node with a
new disk isn't hit by mistake. A leader that removes itself resigns once that is committed. It needs kraft.version 1;
a null `cluster_id` isn't checked.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, string, uuid


class RemoveRaftVoterRequest(Request, api=ApiKey.REMOVE_RAFT_VOTER, versions="0", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+")
    voter_id: int = int32("0+")
    voter_directory_id: Uuid = uuid("0+")


class RemoveRaftVoterResponse(Response, api=ApiKey.REMOVE_RAFT_VOTER, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", ignorable=True)
