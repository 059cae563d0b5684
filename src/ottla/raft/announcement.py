"""BeginQuorumEpoch (key 53) and EndQuorumEpoch (key 54): a leader says that it leads, and that it no longer does.

Followers find their leader by being told, so the announcement is repeated every half fetch timeout to voters that
do not fetch. A leader that goes names those with the most of the log first, and each waits a little longer than the
one before it, so that the best one stands first and alone.
"""

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import begin_quorum_epoch as begin
from ottla.protocol.messages import end_quorum_epoch as end
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import Endpoints
from ottla.raft.event import RequestReceived
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, NO_NODE, ReplicaKey
from ottla.raft.leadership import LeaderClaim, Leadership
from ottla.raft.request import is_our_cluster, is_our_key, leader_node_endpoints, only_partition, voter_request_error
from ottla.raft.roles.follower import Follower
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.resigned import Resigned


class Announcement:
    """The beginning and the end of a leadership, on both sides."""

    def __init__(self, context: RaftContext, leadership: Leadership) -> None:
        self._context = context
        self._leadership = leadership

    def poll_leader(self, leader: Leader, now_ms: int) -> int:
        """Announces the leadership to voters that don't fetch; when to look again."""
        context = self._context
        if now_ms >= leader.begin_quorum_deadline_ms:
            for voter in leader.silent_voters(now_ms):
                node = context.quorum.voters.node(voter.id, context.listener_name)
                if node is not None and context.connections.is_ready(node, now_ms):
                    context.send(node, self._begin_request(voter), now_ms)
            leader.announced(now_ms)
        return leader.begin_quorum_deadline_ms

    def poll_resigned(self, resigned: Resigned, now_ms: int) -> int:
        """Tells the voters that the epoch has no leader; when to look again."""
        context = self._context
        for voter_id in sorted(resigned.unacknowledged):
            node = context.quorum.voters.node(voter_id, context.listener_name)
            if node is not None and context.connections.is_ready(node, now_ms):
                context.send(node, self._end_request(resigned), now_ms)
        deadline_ms = context.connections.deadline_ms(now_ms)
        if context.shutdown_deadline_ms is not None:
            return min(context.shutdown_deadline_ms, deadline_ms)
        if now_ms >= resigned.election_deadline_ms:
            self._leadership.to_unattached(resigned.epoch + 1, None, now_ms)
            return now_ms
        return min(resigned.election_deadline_ms, deadline_ms)

    def handle_begin(self, event: RequestReceived, request: begin.BeginQuorumEpochRequest, now_ms: int) -> None:
        """Learns who leads."""
        self._context.respond(event.request_id, self._answer_begin(event, request, now_ms))

    def handle_end(self, event: RequestReceived, request: end.EndQuorumEpochRequest, now_ms: int) -> None:
        """Learns that the leader has gone, and waits for its turn to stand."""
        self._context.respond(event.request_id, self._answer_end(event, request, now_ms))

    def handle_begin_response(self, response: begin.BeginQuorumEpochResponse, now_ms: int) -> bool:
        """A voter was told."""
        return self._handle_response(response, now_ms)

    def handle_end_response(self, source_id: int, response: end.EndQuorumEpochResponse, now_ms: int) -> bool:
        """A voter was told."""
        is_success = self._handle_response(response, now_ms)
        resigned = self._context.quorum.role
        if is_success and isinstance(resigned, Resigned):
            resigned.unacknowledged.discard(source_id)
        return is_success

    def _handle_response(
        self, response: begin.BeginQuorumEpochResponse | end.EndQuorumEpochResponse, now_ms: int
    ) -> bool:
        partition = only_partition(response.topics)
        if response.error_code != ErrorCode.NONE or partition is None:
            return False
        listener = self._context.listener_name
        endpoints = Endpoints.of_node(listener, partition.leader_id, response.node_endpoints)
        claim = LeaderClaim.of(partition.leader_epoch, partition.leader_id, endpoints)
        error = ErrorCode(partition.error_code)
        settled = self._leadership.settle_response(error, claim, now_ms)
        return error == ErrorCode.NONE if settled is None else settled

    def _answer_begin(
        self, event: RequestReceived, request: begin.BeginQuorumEpochRequest, now_ms: int
    ) -> begin.BeginQuorumEpochResponse:
        if not is_our_cluster(self._context, request.cluster_id):
            return begin.BeginQuorumEpochResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
        partition: begin.RequestPartitionData | None = only_partition(request.topics)
        if partition is None:
            return begin.BeginQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
        error = voter_request_error(self._context, partition.leader_id, partition.leader_epoch)
        if error == ErrorCode.NONE:
            endpoints = Endpoints.of(request.leader_endpoints)
            self._leadership.learn(LeaderClaim.of(partition.leader_epoch, partition.leader_id, endpoints), now_ms)
            if not is_our_key(self._context, ReplicaKey(request.voter_id, partition.voter_directory_id)):
                error = ErrorCode.INVALID_VOTER_KEY
        role = self._context.quorum.role
        answer = begin.ResponsePartitionData(
            partition_index=METADATA_PARTITION,
            error_code=error,
            leader_id=NO_NODE if role.leader_id is None else role.leader_id,
            leader_epoch=role.epoch,
        )
        node_endpoints = leader_node_endpoints(self._context, event, begin.NodeEndpoint, since_version=1)
        topic = begin.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[answer])
        return begin.BeginQuorumEpochResponse(topics=[topic], node_endpoints=node_endpoints)

    def _answer_end(
        self, event: RequestReceived, request: end.EndQuorumEpochRequest, now_ms: int
    ) -> end.EndQuorumEpochResponse:
        if not is_our_cluster(self._context, request.cluster_id):
            return end.EndQuorumEpochResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
        partition: end.RequestPartitionData | None = only_partition(request.topics)
        if partition is None:
            return end.EndQuorumEpochResponse(error_code=ErrorCode.INVALID_REQUEST)
        error = voter_request_error(self._context, partition.leader_id, partition.leader_epoch)
        if error == ErrorCode.NONE:
            endpoints = Endpoints.of(request.leader_endpoints)
            self._leadership.learn(LeaderClaim.of(partition.leader_epoch, partition.leader_id, endpoints), now_ms)
            self._await_turn(partition, now_ms)
        role = self._context.quorum.role
        answer = end.ResponsePartitionData(
            partition_index=METADATA_PARTITION,
            error_code=error,
            leader_id=NO_NODE if role.leader_id is None else role.leader_id,
            leader_epoch=role.epoch,
        )
        node_endpoints = leader_node_endpoints(self._context, event, end.NodeEndpoint, since_version=1)
        topic = end.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[answer])
        return end.EndQuorumEpochResponse(topics=[topic], node_endpoints=node_endpoints)

    def _await_turn(self, partition: end.RequestPartitionData, now_ms: int) -> None:
        follower = self._context.quorum.role
        if not isinstance(follower, Follower) or follower.leader_id != partition.leader_id:
            return
        candidates = [
            ReplicaKey(candidate.candidate_id, candidate.candidate_directory_id)
            for candidate in partition.preferred_candidates
        ] or [ReplicaKey(successor) for successor in partition.preferred_successors]
        position = next((at for at, key in enumerate(candidates) if key.is_met_by(self._context.local.key)), -1)
        backoff_max_ms = self._context.config.election_backoff_max_ms
        follower.fetch_deadline_ms = now_ms + successor_backoff_ms(position, len(candidates), backoff_max_ms)

    def _begin_request(self, voter: ReplicaKey) -> begin.BeginQuorumEpochRequest:
        partition = begin.RequestPartitionData(
            partition_index=METADATA_PARTITION,
            voter_directory_id=voter.directory_id,
            leader_id=self._context.local.id,
            leader_epoch=self._context.quorum.epoch,
        )
        topic = begin.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        return begin.BeginQuorumEpochRequest(
            cluster_id=self._context.setup.cluster_id,
            voter_id=voter.id,
            topics=[topic],
            leader_endpoints=self._context.local.endpoints.listeners(begin.LeaderEndpoint),
        )

    def _end_request(self, resigned: Resigned) -> end.EndQuorumEpochRequest:
        partition = end.RequestPartitionData(
            partition_index=METADATA_PARTITION,
            leader_id=self._context.local.id,
            leader_epoch=resigned.epoch,
            preferred_successors=[key.id for key in resigned.preferred_successors],
            preferred_candidates=[
                end.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id)
                for key in resigned.preferred_successors
            ],
        )
        topic = end.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        return end.EndQuorumEpochRequest(
            cluster_id=self._context.setup.cluster_id,
            topics=[topic],
            leader_endpoints=self._context.local.endpoints.listeners(end.LeaderEndpoint),
        )


def successor_backoff_ms(position: int, count: int, backoff_max_ms: int) -> int:
    """The wait of the successor at a position: 0 for the first, then doubling up to the maximum.

    >>> [successor_backoff_ms(position, 4, 1000) for position in (0, 1, 2, 3, -1)]
    [0, 125, 250, 500, 1000]
    """
    if position == 0:
        return 0
    if position < 0:
        return backoff_max_ms
    return min(backoff_max_ms, (backoff_max_ms >> (count - 1)) << (position - 1))
