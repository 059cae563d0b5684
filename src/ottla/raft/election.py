"""Vote (key 52): asking for votes and pre-votes, and giving them.

A vote is worth something because it is given once per epoch and only to a log that has everything ours has: every
majority then contains a replica that holds each committed record, and it elects no candidate that lacks one. A pre-vote
(KIP-996) asks the same without a new epoch, so that a replica that lost touch does not unseat a working leader.
"""

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import vote
from ottla.raft.config import NEVER_MS
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import Endpoints
from ottla.raft.event import RequestReceived
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, NO_NODE, OffsetAndEpoch, ReplicaKey
from ottla.raft.leadership import LeaderClaim, Leadership
from ottla.raft.request import is_our_cluster, is_our_key, leader_node_endpoints, only_partition, voter_request_error
from ottla.raft.roles.candidate import Candidate
from ottla.raft.roles.prospective import Prospective
from ottla.raft.roles.role import Ballot


class Election:
    """Both sides of a vote."""

    def __init__(self, context: RaftContext, leadership: Leadership) -> None:
        self._context = context
        self._leadership = leadership

    def poll(self, role: Prospective | Candidate, now_ms: int) -> int:
        """Asks the voters that have not answered; when to look again."""
        if self._context.is_shutting_down:
            return min(self._ask_voters(role, now_ms), self._context.shutdown_deadline_ms or NEVER_MS)
        if now_ms >= role.election_deadline_ms:
            if isinstance(role, Candidate):
                self._leadership.to_prospective(now_ms)
            else:
                self._leadership.after_lost_pre_vote(role, now_ms)
            return now_ms
        return min(self._ask_voters(role, now_ms), role.election_deadline_ms)

    def handle_request(self, event: RequestReceived, request: vote.VoteRequest, now_ms: int) -> None:
        """Gives or refuses a vote."""
        self._context.respond(event.request_id, self._answer(event, request, now_ms))

    def handle_response(self, source_id: int, response: vote.VoteResponse, now_ms: int) -> bool:
        """Counts a vote; whether the voter answered sensibly."""
        if response.error_code != ErrorCode.NONE:
            return self.handle_failure(ErrorCode(response.error_code), now_ms)
        partition = only_partition(response.topics)
        if partition is None:
            return False
        listener = self._context.listener_name
        endpoints = Endpoints.of_node(listener, partition.leader_id, response.node_endpoints)
        claim = LeaderClaim.of(partition.leader_epoch, partition.leader_id, endpoints)
        error = ErrorCode(partition.error_code)
        settled = self._leadership.settle_response(error, claim, now_ms)
        if settled is not None:
            return settled
        if error != ErrorCode.NONE:
            return False
        role = self._context.quorum.role
        if isinstance(role, Prospective | Candidate):
            role.tally.record(source_id, granted=partition.vote_granted)
            if role.tally.is_won:
                self._leadership.stand_forward(role, now_ms)
            elif isinstance(role, Prospective) and role.tally.is_lost:
                self._leadership.after_lost_pre_vote(role, now_ms)
        return True

    def handle_failure(self, error: ErrorCode, now_ms: int) -> bool:
        """No vote came. A voter without pre-votes (Vote before version 2) means that there is no asking first."""
        if error == ErrorCode.UNSUPPORTED_VERSION and isinstance(self._context.quorum.role, Prospective):
            self._leadership.to_candidate(now_ms)
            return True
        return False

    def _ask_voters(self, role: Prospective | Candidate, now_ms: int) -> int:
        context = self._context
        if role.tally.is_lost:
            return NEVER_MS
        if not context.is_flushed:
            # What we claim to have must survive us: a voter that knows we asked grants again without looking.
            context.flush()
            return NEVER_MS
        for voter in role.tally.unrecorded:
            node = context.quorum.voters.node(voter.id, context.listener_name)
            if node is not None and context.connections.is_ready(node, now_ms):
                context.send(node, self._request(voter, pre_vote=isinstance(role, Prospective)), now_ms)
        return context.connections.deadline_ms(now_ms)

    def _request(self, voter: ReplicaKey, *, pre_vote: bool) -> vote.VoteRequest:
        end, local = self._context.log_end, self._context.local.key
        partition = vote.RequestPartitionData(
            partition_index=METADATA_PARTITION,
            replica_epoch=self._context.quorum.epoch,
            replica_id=local.id,
            replica_directory_id=local.directory_id,
            voter_directory_id=voter.directory_id,
            last_offset_epoch=end.epoch,
            last_offset=end.offset,
            pre_vote=pre_vote,
        )
        topic = vote.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        return vote.VoteRequest(cluster_id=self._context.setup.cluster_id, voter_id=voter.id, topics=[topic])

    def _answer(self, event: RequestReceived, request: vote.VoteRequest, now_ms: int) -> vote.VoteResponse:
        if not is_our_cluster(self._context, request.cluster_id):
            return vote.VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
        partition: vote.RequestPartitionData | None = only_partition(request.topics)
        if partition is None:
            return vote.VoteResponse(error_code=ErrorCode.INVALID_REQUEST)
        error = _ballot_error(partition) or voter_request_error(
            self._context, partition.replica_id, partition.replica_epoch
        )
        if error != ErrorCode.NONE:
            return self._response(event, error)
        if partition.replica_epoch > self._context.quorum.epoch:
            self._leadership.to_unattached(partition.replica_epoch, None, now_ms)
        if not is_our_key(self._context, ReplicaKey(request.voter_id, partition.voter_directory_id)):
            return self._response(event, ErrorCode.INVALID_VOTER_KEY)
        return self._response(event, ErrorCode.NONE, granted=self._vote(partition, now_ms))

    def _vote(self, partition: vote.RequestPartitionData, now_ms: int) -> bool:
        quorum = self._context.quorum
        candidate = ReplicaKey(partition.replica_id, partition.replica_directory_id)
        end = OffsetAndEpoch(offset=partition.last_offset, epoch=partition.last_offset_epoch)
        ballot = Ballot(candidate, end >= self._context.log_end, partition.pre_vote)
        granted = quorum.role.can_grant_vote(ballot)
        if granted and not ballot.pre_vote and quorum.role.election.voted_key is None:
            quorum.record_vote(candidate, now_ms)
        return granted

    def _response(self, event: RequestReceived, error: ErrorCode, *, granted: bool = False) -> vote.VoteResponse:
        role = self._context.quorum.role
        partition = vote.ResponsePartitionData(
            partition_index=METADATA_PARTITION,
            error_code=error,
            leader_id=NO_NODE if role.leader_id is None else role.leader_id,
            leader_epoch=role.epoch,
            vote_granted=granted,
        )
        endpoints = leader_node_endpoints(self._context, event, vote.NodeEndpoint, since_version=1)
        topic = vote.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        return vote.VoteResponse(topics=[topic], node_endpoints=endpoints)


def _ballot_error(partition: vote.RequestPartitionData) -> ErrorCode:
    """A log cannot end in the epoch it is being elected for; for a pre-vote the epoch is still the old one."""
    newest = partition.replica_epoch if partition.pre_vote else partition.replica_epoch - 1
    is_valid = partition.last_offset >= 0 and 0 <= partition.last_offset_epoch <= newest
    return ErrorCode.NONE if is_valid else ErrorCode.INVALID_REQUEST
