"""Vote (key 52): asks a voter of the metadata quorum for its vote (KIP-595).

Sent by a candidate to the other voters. `replica_epoch` is the sender's; `last_offset` is the end of its log, not its
last record. Granted once per epoch, to a log that is not behind. v1 names both sides by id and directory (KIP-853).
v2 adds `pre_vote` (KIP-996), sent before the epoch is raised: no voter writes anything down, and a follower with a live
leader says no. `leader_id` -1: none known.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, int64, string, uint16, uuid


class RequestPartitionData(Struct):
    partition_index: int = int32("0+")
    replica_epoch: int = int32("0+")
    replica_id: int = int32("0+")
    replica_directory_id: Uuid = uuid("1+", ignorable=True)
    voter_directory_id: Uuid = uuid("1+", ignorable=True)
    last_offset_epoch: int = int32("0+")
    last_offset: int = int64("0+")
    pre_vote: bool = boolean("2+")


class RequestTopicData(Struct):
    topic_name: str = string("0+")
    partitions: list[RequestPartitionData] = array(RequestPartitionData, "0+")


class VoteRequest(Request, api=ApiKey.VOTE, versions="0-2", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+", default=None)
    voter_id: int = int32("1+", default=-1, ignorable=True)
    topics: list[RequestTopicData] = array(RequestTopicData, "0+")


class ResponsePartitionData(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")
    leader_id: int = int32("0+")
    leader_epoch: int = int32("0+")
    vote_granted: bool = boolean("0+")


class ResponseTopicData(Struct):
    topic_name: str = string("0+")
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData, "0+")


class NodeEndpoint(Struct):
    node_id: int = int32("1+")
    host: str = string("1+")
    port: int = uint16("1+")


class VoteResponse(Response, api=ApiKey.VOTE, versions="0-2", flexible="0+"):
    error_code: int = int16("0+")
    topics: list[ResponseTopicData] = array(ResponseTopicData, "0+")
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "1+", tag=0)
