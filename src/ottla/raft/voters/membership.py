"""A follower's requests for its own place among the voters, once a fetch timeout.

A voter whose entry is out of date sends UpdateRaftVoter (at kraft.version 0 once per leader, so that the leader learns
the directories). A controller that is no voter joins by itself if `controller.quorum.auto.join.enable` says so: it has
the voter of its id but an older directory removed, then itself added (KIP-853, KIP-1186).
"""

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import add_raft_voter, remove_raft_voter, update_raft_voter
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import NO_ENDPOINTS, Address, Endpoints
from ottla.raft.leadership import LeaderClaim, Leadership
from ottla.raft.roles.follower import Follower
from ottla.raft.voters.voter_set import VoterNode

_SETTLED_BY_ADD = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.DUPLICATE_VOTER)
_SETTLED_BY_REMOVE = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.VOTER_NOT_FOUND)

MembershipRequest = (
    add_raft_voter.AddRaftVoterRequest
    | remove_raft_voter.RemoveRaftVoterRequest
    | update_raft_voter.UpdateRaftVoterRequest
)


class Membership:
    """Sends the follower's requests about itself."""

    def __init__(self, context: RaftContext, leadership: Leadership) -> None:
        self._context = context
        self._leadership = leadership

    def poll(self, follower: Follower, now_ms: int) -> bool:
        """Sends what is due; whether the connection to the leader is taken by it."""
        if now_ms < follower.update_voter_deadline_ms:
            return False
        request = self._due_request(follower)
        if request is None:
            if self._context.quorum.is_voter:
                follower.delay_voter_update(now_ms)
            return False
        leader = follower.leader_node(self._context.listener_name)
        if not self._context.connections.is_ready(leader, now_ms):
            return False
        self._context.send(leader, request, now_ms)
        follower.delay_voter_update(now_ms)
        return True

    def handle_update(self, response: update_raft_voter.UpdateRaftVoterResponse, now_ms: int) -> bool:
        """The leader took our new endpoints, or can't keep them and need not be told again."""
        error, leader = ErrorCode(response.error_code), response.current_leader
        endpoints = NO_ENDPOINTS
        if leader.host:
            endpoints = Endpoints({self._context.listener_name: Address(leader.host, leader.port)})
        claim = LeaderClaim.of(leader.leader_epoch, leader.leader_id, endpoints)
        settled = self._leadership.settle_response(error, claim, now_ms)
        if settled is not None:
            return settled
        follower = self._context.quorum.role
        if error in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION) and isinstance(follower, Follower):
            follower.has_updated_leader = True
            follower.fetched(now_ms)
            return True
        return False

    def handle_add(self, response: add_raft_voter.AddRaftVoterResponse, now_ms: int) -> bool:
        """We are a voter, or soon, or have to ask again later."""
        return self._delay(now_ms, is_settled=response.error_code in _SETTLED_BY_ADD)

    def handle_remove(self, response: remove_raft_voter.RemoveRaftVoterResponse, now_ms: int) -> bool:
        """The voter that we were is gone, or soon, or we have to ask again later."""
        return self._delay(now_ms, is_settled=response.error_code in _SETTLED_BY_REMOVE)

    def _delay(self, now_ms: int, *, is_settled: bool) -> bool:
        follower = self._context.quorum.role
        if is_settled and isinstance(follower, Follower):
            follower.delay_voter_update(now_ms)
        return is_settled

    def _due_request(self, follower: Follower) -> MembershipRequest | None:
        context = self._context
        if context.quorum.is_voter:
            return self._update_request() if self._needs_update(follower) else None
        can_join = context.local.can_become_voter and context.config.auto_join_enable
        if not can_join or not context.voters.supports_reconfiguration:
            return None
        former = context.voters.last_set.by_id.get(context.local.id)
        if former is not None:
            return remove_raft_voter.RemoveRaftVoterRequest(
                cluster_id=context.setup.cluster_id,
                voter_id=former.key.id,
                voter_directory_id=former.key.directory_id,
            )
        return self._add_request()

    def _needs_update(self, follower: Follower) -> bool:
        voters = self._context.voters
        if not voters.supports_reconfiguration:
            return not follower.has_updated_leader
        return voters.last_set.needs_update(VoterNode.of_local(self._context.local))

    def _update_request(self) -> update_raft_voter.UpdateRaftVoterRequest:
        local = self._context.local
        return update_raft_voter.UpdateRaftVoterRequest(
            cluster_id=self._context.setup.cluster_id,
            current_leader_epoch=self._context.quorum.epoch,
            voter_id=local.id,
            voter_directory_id=local.key.directory_id,
            listeners=local.endpoints.listeners(update_raft_voter.Listener),
            kraft_version_feature=update_raft_voter.KRaftVersionFeature(
                min_supported_version=local.supported_versions.min_supported_version,
                max_supported_version=local.supported_versions.max_supported_version,
            ),
        )

    def _add_request(self) -> add_raft_voter.AddRaftVoterRequest:
        local = self._context.local
        return add_raft_voter.AddRaftVoterRequest(
            cluster_id=self._context.setup.cluster_id,
            timeout_ms=self._context.config.request_timeout_ms,
            voter_id=local.id,
            voter_directory_id=local.key.directory_id,
            listeners=local.endpoints.listeners(add_raft_voter.Listener),
            ack_when_committed=False,
        )
