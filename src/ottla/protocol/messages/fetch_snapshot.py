"""FetchSnapshot (key 59): reads a piece of a snapshot of the metadata log (KIP-630).

Sent by followers and observers to the quorum's leader after a Fetch answered with a snapshot id. `position` counts
bytes, and `unaligned_records` may begin or end inside a batch; the copy is whole when position and bytes reach
`size`. SNAPSHOT_NOT_FOUND means to fetch again. v1 adds directory ids and the leader's endpoint (KIP-853).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import Records, array, int16, int32, int64, records, string, struct, uint16, uuid


class SnapshotId(Struct):
    end_offset: int = int64("0+")
    epoch: int = int32("0+")


class RequestPartitionSnapshot(Struct):
    partition: int = int32("0+")
    current_leader_epoch: int = int32("0+")
    snapshot_id: SnapshotId = struct(SnapshotId, "0+")
    position: int = int64("0+")
    replica_directory_id: Uuid = uuid("1+", tag=0, ignorable=True)


class RequestTopicSnapshot(Struct):
    name: str = string("0+")
    partitions: list[RequestPartitionSnapshot] = array(RequestPartitionSnapshot, "0+")


class FetchSnapshotRequest(Request, api=ApiKey.FETCH_SNAPSHOT, versions="0-1", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+", default=None, tag=0)
    replica_id: int = int32("0+", default=-1)
    max_bytes: int = int32("0+", default=0x7FFFFFFF)
    topics: list[RequestTopicSnapshot] = array(RequestTopicSnapshot, "0+")


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32("0+")
    leader_epoch: int = int32("0+")


class ResponsePartitionSnapshot(Struct):
    index: int = int32("0+")
    error_code: int = int16("0+")
    snapshot_id: SnapshotId = struct(SnapshotId, "0+")
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, "0+", tag=0)
    size: int = int64("0+")
    position: int = int64("0+")
    unaligned_records: Records | None = records("0+")


class ResponseTopicSnapshot(Struct):
    name: str = string("0+")
    partitions: list[ResponsePartitionSnapshot] = array(ResponsePartitionSnapshot, "0+")


class NodeEndpoint(Struct):
    node_id: int = int32("1+")
    host: str = string("1+")
    port: int = uint16("1+")


class FetchSnapshotResponse(Response, api=ApiKey.FETCH_SNAPSHOT, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", ignorable=True)
    error_code: int = int16("0+")
    topics: list[ResponseTopicSnapshot] = array(ResponseTopicSnapshot, "0+")
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "1+", tag=0)
