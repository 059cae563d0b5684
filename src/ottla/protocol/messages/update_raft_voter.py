"""UpdateRaftVoter (key 82): tells the quorum's leader a voter's endpoints and supported kraft.version (KIP-853).

Sent by a voter, for itself, to the quorum's leader when they differ from what the voter set says.
`current_leader_epoch` is -1 if unknown. The answer tells the current leader, in a tagged field.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string, struct, uint16, uuid


class Listener(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")


class KRaftVersionFeature(Struct):
    min_supported_version: int = int16("0+")
    max_supported_version: int = int16("0+")


class UpdateRaftVoterRequest(Request, api=ApiKey.UPDATE_RAFT_VOTER, versions="0", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+")
    current_leader_epoch: int = int32("0+")
    voter_id: int = int32("0+")
    voter_directory_id: Uuid = uuid("0+")
    listeners: list[Listener] = array(Listener, "0+")
    kraft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature, "0+")


class CurrentLeader(Struct):
    leader_id: int = int32("0+", default=-1)
    leader_epoch: int = int32("0+", default=-1)
    host: str = string("0+")
    port: int = int32("0+")


class UpdateRaftVoterResponse(Response, api=ApiKey.UPDATE_RAFT_VOTER, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    current_leader: CurrentLeader = struct(CurrentLeader, "0+", tag=0)
