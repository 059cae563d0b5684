"""FetchSnapshot (key 59) at the leader: ranges of a `.checkpoint` file."""

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import fetch_snapshot as message
from ottla.raft.context import RaftContext
from ottla.raft.event import RequestReceived
from ottla.raft.identity import (
    BOOTSTRAP_SNAPSHOT_ID,
    METADATA_PARTITION,
    METADATA_TOPIC,
    NO_NODE,
    OffsetAndEpoch,
    ReplicaKey,
)
from ottla.raft.request import is_our_cluster, leader_node_endpoints, leader_request_error
from ottla.raft.roles.leader import Leader


class SnapshotService:
    """Serves snapshots."""

    def __init__(self, context: RaftContext) -> None:
        self._context = context

    def handle(self, event: RequestReceived, request: message.FetchSnapshotRequest, now_ms: int) -> None:
        """Answers with a range of bytes, or says why not."""
        self._context.respond(event.request_id, self._answer(event, request, now_ms))

    def _answer(
        self, event: RequestReceived, request: message.FetchSnapshotRequest, now_ms: int
    ) -> message.FetchSnapshotResponse:
        if not is_our_cluster(self._context, request.cluster_id):
            return message.FetchSnapshotResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
        if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
            return message.FetchSnapshotResponse(error_code=ErrorCode.INVALID_REQUEST)
        topic = request.topics[0]
        partition = topic.partitions[0]
        answer = message.ResponsePartitionSnapshot(index=partition.partition, unaligned_records=b"")
        if topic.name != METADATA_TOPIC or partition.partition != METADATA_PARTITION:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            self._fill(request, partition, answer, now_ms)
        endpoints = leader_node_endpoints(self._context, event, message.NodeEndpoint, since_version=1)
        responses = [message.ResponseTopicSnapshot(name=topic.name, partitions=[answer])]
        return message.FetchSnapshotResponse(topics=responses, node_endpoints=endpoints)

    def _fill(
        self,
        request: message.FetchSnapshotRequest,
        partition: message.RequestPartitionSnapshot,
        answer: message.ResponsePartitionSnapshot,
        now_ms: int,
    ) -> None:
        context, role = self._context, self._context.quorum.role
        leader_id = NO_NODE if role.leader_id is None else role.leader_id
        answer.current_leader = message.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=role.epoch)
        error = leader_request_error(context, partition.current_leader_epoch)
        if error != ErrorCode.NONE or not isinstance(role, Leader):
            answer.error_code = error
            return
        snapshot_id = OffsetAndEpoch(offset=partition.snapshot_id.end_offset, epoch=partition.snapshot_id.epoch)
        size = context.snapshots.size(snapshot_id)
        if size is None or snapshot_id == BOOTSTRAP_SNAPSHOT_ID:
            answer.error_code = ErrorCode.SNAPSHOT_NOT_FOUND
        elif not 0 <= partition.position < size:
            answer.error_code = ErrorCode.POSITION_OUT_OF_RANGE
        else:
            answer.snapshot_id = message.SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch)
            answer.size, answer.position = size, partition.position
            answer.unaligned_records = context.snapshots.read(snapshot_id, partition.position, request.max_bytes)
            replica = ReplicaKey(request.replica_id, partition.replica_directory_id)
            if replica.id >= 0 and replica.id != role.local.id:
                # A replica that loads a snapshot follows us, though it does not fetch meanwhile.
                role.heard_from(replica, now_ms)
