"""DescribeQuorum (key 55): shows the leader, voters and observers of the metadata quorum (KIP-595).

Sent by admin clients to any broker, which forwards it to the active controller; only `__cluster_metadata` partition 0
exists. `leader_id` and offsets are -1 if unknown. v1 adds the times of the last fetch and of being caught up, by the
leader's clock (KIP-836), v2 directory ids, messages and the controllers' endpoints (KIP-853).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, string, uint16, uuid


class RequestPartitionData(Struct):
    partition_index: int = int32("0+")


class RequestTopicData(Struct):
    topic_name: str = string("0+")
    partitions: list[RequestPartitionData] = array(RequestPartitionData, "0+")


class DescribeQuorumRequest(Request, api=ApiKey.DESCRIBE_QUORUM, versions="0-2", flexible="0+"):
    topics: list[RequestTopicData] = array(RequestTopicData, "0+")


class ReplicaState(Struct):
    replica_id: int = int32("0+")
    replica_directory_id: Uuid = uuid("2+")
    log_end_offset: int = int64("0+")
    last_fetch_timestamp: int = int64("1+", default=-1, ignorable=True)
    last_caught_up_timestamp: int = int64("1+", default=-1, ignorable=True)


class ResponsePartitionData(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("2+", nullable="2+", ignorable=True)
    leader_id: int = int32("0+")
    leader_epoch: int = int32("0+")
    high_watermark: int = int64("0+")
    current_voters: list[ReplicaState] = array(ReplicaState, "0+")
    observers: list[ReplicaState] = array(ReplicaState, "0+")


class ResponseTopicData(Struct):
    topic_name: str = string("0+")
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData, "0+")


class Listener(Struct):
    name: str = string("2+")
    host: str = string("2+")
    port: int = uint16("2+")


class Node(Struct):
    node_id: int = int32("2+")
    listeners: list[Listener] = array(Listener, "2+")


class DescribeQuorumResponse(Response, api=ApiKey.DESCRIBE_QUORUM, versions="0-2", flexible="0+"):
    error_code: int = int16("0+")
    error_message: str | None = string("2+", nullable="2+", ignorable=True)
    topics: list[ResponseTopicData] = array(ResponseTopicData, "0+")
    nodes: list[Node] = array(Node, "2+")
