"""UpdateRaftVoter (key 82): a voter whose endpoints or versions changed tells the leader.

At kraft.version 1 that is a VotersRecord; at 0 the leader keeps it in memory, for the directories that an upgrade
to 1 needs. The answer does not wait for the commit: the voter will see its record come back in the log.
"""

from ottla.base.ids import ZERO_UUID
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.update_raft_voter import CurrentLeader, UpdateRaftVoterRequest, UpdateRaftVoterResponse
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import Endpoints
from ottla.raft.event import RequestReceived
from ottla.raft.identity import NO_NODE, KRaftVersionRange, ReplicaKey
from ottla.raft.request import is_our_cluster, leader_request_error
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.precondition import uncommitted_refusal, unready_refusal
from ottla.raft.voters.voter_set import VoterNode


class UpdateVoter:
    """Takes what a voter says of itself."""

    def __init__(self, context: RaftContext) -> None:
        self._context = context

    def handle(self, event: RequestReceived, request: UpdateRaftVoterRequest, now_ms: int) -> None:
        """Updates a voter, or says why not."""
        error = self._request_error(request)
        leader = self._context.quorum.role
        if error == ErrorCode.NONE and isinstance(leader, Leader):
            error = self._update(leader, request, now_ms)
        self._context.respond(event.request_id, self._response(event, error))

    def _request_error(self, request: UpdateRaftVoterRequest) -> ErrorCode:
        if not is_our_cluster(self._context, request.cluster_id):
            return ErrorCode.INCONSISTENT_CLUSTER_ID
        error = leader_request_error(self._context, request.current_leader_epoch)
        if error != ErrorCode.NONE:
            return error
        versions = request.kraft_version_feature
        is_valid = (
            request.voter_id >= 0
            and request.voter_directory_id != ZERO_UUID
            and Endpoints.of(request.listeners).address(self._context.listener_name) is not None
            and 0 <= versions.min_supported_version <= versions.max_supported_version
        )
        return ErrorCode.NONE if is_valid else ErrorCode.INVALID_REQUEST

    def _update(self, leader: Leader, request: UpdateRaftVoterRequest, now_ms: int) -> ErrorCode:
        context = self._context
        if unready_refusal(context, leader, now_ms) is not None:
            return ErrorCode.REQUEST_TIMED_OUT
        feature = request.kraft_version_feature
        versions = KRaftVersionRange(feature.min_supported_version, feature.max_supported_version)
        voter = VoterNode(
            ReplicaKey(request.voter_id, request.voter_directory_id), Endpoints.of(request.listeners), versions
        )
        is_dynamic = context.voters.supports_reconfiguration
        if is_dynamic and uncommitted_refusal(context, leader) is not None:
            return ErrorCode.REQUEST_TIMED_OUT
        if not is_dynamic and leader.changes.volatile_voters is None:
            return ErrorCode.REQUEST_TIMED_OUT
        if not versions.includes(context.voters.kraft_version):
            return ErrorCode.INVALID_REQUEST
        error = self._write(leader, voter, now_ms) if is_dynamic else self._remember(leader, voter)
        if error == ErrorCode.NONE:
            leader.heard_from(voter.key, now_ms)
        return error

    def _write(self, leader: Leader, voter: VoterNode, now_ms: int) -> ErrorCode:
        updated = self._context.voters.last_set.with_update(voter)
        if updated is None:
            return ErrorCode.VOTER_NOT_FOUND
        leader.accumulator.append_control([updated.record()], now_ms)
        return ErrorCode.NONE

    def _remember(self, leader: Leader, voter: VoterNode) -> ErrorCode:
        volatile = leader.changes.volatile_voters
        updated = None if volatile is None else volatile.with_update_of_id(voter)
        if updated is None:
            return ErrorCode.VOTER_NOT_FOUND
        leader.changes.volatile_voters = updated
        return ErrorCode.NONE

    def _response(self, event: RequestReceived, error: ErrorCode) -> UpdateRaftVoterResponse:
        role = self._context.quorum.role
        leader = CurrentLeader(leader_id=NO_NODE if role.leader_id is None else role.leader_id, leader_epoch=role.epoch)
        address = role.leader_endpoints.address(event.listener)
        if address is not None:
            leader.host, leader.port = address.host, address.port
        return UpdateRaftVoterResponse(error_code=error, current_leader=leader)
