"""EndQuorumEpoch (key 54): says that the leader of the metadata quorum resigns (KIP-595).

Sent by the leader to the voters in a clean stop, so that they needn't wait for the fetch timeout. The earlier a voter
stands in the list of candidates, the sooner it starts an election; the most caught up come first. v0 has bare ids in
`preferred_successors`, v1 ids with directories in `preferred_candidates`, and the leader's endpoints (KIP-853).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string, uint16, uuid


class ReplicaInfo(Struct):
    candidate_id: int = int32("1+")
    candidate_directory_id: Uuid = uuid("1+")


class RequestPartitionData(Struct):
    partition_index: int = int32("0+")
    leader_id: int = int32("0+")
    leader_epoch: int = int32("0+")
    preferred_successors: list[int] = array(int32, "0", ignorable=True)
    preferred_candidates: list[ReplicaInfo] = array(ReplicaInfo, "1+", ignorable=True)


class RequestTopicData(Struct):
    topic_name: str = string("0+")
    partitions: list[RequestPartitionData] = array(RequestPartitionData, "0+")


class LeaderEndpoint(Struct):
    name: str = string("1+")
    host: str = string("1+")
    port: int = uint16("1+")


class EndQuorumEpochRequest(Request, api=ApiKey.END_QUORUM_EPOCH, versions="0-1", flexible="1+"):
    cluster_id: str | None = string("0+", nullable="0+", default=None)
    topics: list[RequestTopicData] = array(RequestTopicData, "0+")
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, "1+", ignorable=True)


class ResponsePartitionData(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")
    leader_id: int = int32("0+")
    leader_epoch: int = int32("0+")


class ResponseTopicData(Struct):
    topic_name: str = string("0+")
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData, "0+")


class NodeEndpoint(Struct):
    node_id: int = int32("1+")
    host: str = string("1+")
    port: int = uint16("1+")


class EndQuorumEpochResponse(Response, api=ApiKey.END_QUORUM_EPOCH, versions="0-1", flexible="1+"):
    error_code: int = int16("0+")
    topics: list[ResponseTopicData] = array(ResponseTopicData, "0+")
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "1+", tag=0)
