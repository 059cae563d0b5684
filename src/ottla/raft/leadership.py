"""Changes the role with all that follows, and handles what other nodes report of leaders and epochs.

`quorum.Quorum` changes the role and its file; here the listener is told, connections are forgotten, and requests that
wait for this node as leader are refused.
"""

from dataclasses import replace

from ottla.base.frozen import frozen
from ottla.protocol.control_record import LeaderChangeMessage, LeaderChangeMessageVoter
from ottla.protocol.errors import ErrorCode
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import NO_ENDPOINTS, Endpoints
from ottla.raft.errors import RaftInvariantError
from ottla.raft.log.accumulator import BatchAccumulator
from ottla.raft.roles.candidate import Candidate
from ottla.raft.roles.follower import Follower
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.prospective import Prospective
from ottla.raft.voters.answer import abandon_changes
from ottla.raft.voters.kraft_version import start_of_epoch_records, volatile_voters_at_start


@frozen
class LeaderClaim:
    """The leadership by a request or a response."""

    epoch: int
    leader_id: int | None
    endpoints: Endpoints = NO_ENDPOINTS

    @classmethod
    def of(cls, epoch: int, leader_id: int, endpoints: Endpoints = NO_ENDPOINTS) -> "LeaderClaim":
        """From the fields of a message, where a negative id stands for no node."""
        return cls(epoch, leader_id if leader_id >= 0 else None, endpoints)


class Leadership:
    """Moves the replica from role to role."""

    def __init__(self, context: RaftContext) -> None:
        self._context = context
        self._quorum = context.quorum

    def to_unattached(self, epoch: int, leader_id: int | None, now_ms: int) -> None:
        """Enters an epoch without a leader."""
        self._leave()
        self._quorum.to_unattached(epoch, leader_id, now_ms)
        self._context.listener.tell_leader(self._quorum.leader)
        self._context.connections.reset_all()

    def to_follower(self, claim: LeaderClaim, now_ms: int) -> None:
        """Follows the claimed leader; without an address of it, waits unattached until a message gives one."""
        if claim.leader_id is None:
            raise RaftInvariantError(f"no leader to follow in epoch {claim.epoch}")
        endpoints = claim.endpoints
        if endpoints.address(self._context.listener_name) is None:
            if claim.epoch > self._quorum.epoch:
                self.to_unattached(claim.epoch, None, now_ms)
            return
        self._leave()
        self._quorum.to_follower(claim.epoch, claim.leader_id, endpoints, now_ms)
        self._context.listener.tell_leader(self._quorum.leader)
        self._context.connections.reset_all()

    def to_prospective(self, now_ms: int) -> None:
        """Asks for pre-votes; a single voter has them at once."""
        self._leave()
        role = self._quorum.to_prospective(now_ms)
        self._context.connections.reset_all()
        if role.tally.is_won:
            self.to_candidate(now_ms)

    def to_candidate(self, now_ms: int) -> None:
        """Asks for votes; a single voter has them at once."""
        role = self._quorum.to_candidate(now_ms)
        self._context.listener.tell_leader(self._quorum.leader)
        self._context.connections.reset_all()
        if role.tally.is_won:
            self.to_leader(now_ms)

    def to_leader(self, now_ms: int) -> None:
        """Begins the epoch in the log: the first batch says who leads, and is what lets anything be committed."""
        context = self._context
        accumulator = BatchAccumulator(self._quorum.epoch, context.log.end_offset, context.config)
        leader = self._quorum.to_leader(accumulator, now_ms)
        leader.changes.volatile_voters = volatile_voters_at_start(context.voters, context.local)
        message = LeaderChangeMessage(
            version=0,
            leader_id=leader.local.id,
            voters=[LeaderChangeMessageVoter(voter_id=voter_id) for voter_id in sorted(leader.voters)],
            granting_voters=[LeaderChangeMessageVoter(voter_id=voter_id) for voter_id in leader.granting_voters],
        )
        accumulator.append_control([message, *start_of_epoch_records(context.voters, context.local)], now_ms)
        context.connections.reset_all()

    def to_resigned(self, now_ms: int) -> None:
        """Gives up the leadership; those with the most of the log are to stand first."""
        leader = self._quorum.role
        if not isinstance(leader, Leader):
            raise RaftInvariantError(f"cannot resign as {leader}")
        successors = leader.preferred_successors()
        self._leave()
        self._quorum.to_resigned(successors, now_ms)
        self._context.connections.reset_all()

    def after_lost_pre_vote(self, prospective: Prospective, now_ms: int) -> None:
        """The voters want no election: back to the leader if its address is known."""
        claim = LeaderClaim(prospective.epoch, prospective.leader_id, prospective.leader_endpoints)
        if claim.leader_id is not None and claim.leader_id != self._context.local.id and claim.endpoints:
            self.to_follower(claim, now_ms)
        else:
            self.to_unattached(prospective.epoch, prospective.leader_id, now_ms)

    def stand_forward(self, role: Prospective | Candidate, now_ms: int) -> None:
        """Takes the next step of an election that is won."""
        if not role.tally.is_won:
            return
        if isinstance(role, Prospective):
            self.to_candidate(now_ms)
        else:
            self.to_leader(now_ms)

    def learn(self, claim: LeaderClaim, now_ms: int) -> None:
        """Takes a message's claim about the leadership, if it is new."""
        quorum = self._quorum
        claim = self._with_known_endpoints(claim)
        if claim.leader_id == self._context.local.id and claim.epoch <= quorum.epoch:
            return
        known = quorum.role.leader_id
        if claim.epoch == quorum.epoch and None not in (claim.leader_id, known) and claim.leader_id != known:
            raise RaftInvariantError(f"two leaders in epoch {claim.epoch}: {claim.leader_id} and {quorum.role}")
        if claim.epoch > quorum.epoch:
            if claim.leader_id is None or claim.leader_id == self._context.local.id:
                self.to_unattached(claim.epoch, None, now_ms)
            else:
                self.to_follower(claim, now_ms)
        elif self._is_better(claim):
            self.to_follower(claim, now_ms)

    def settle_response(self, error: ErrorCode, claim: LeaderClaim, now_ms: int) -> bool | None:
        """Takes the leadership over from a response of the quorum.

        True or False if there is nothing more in it (and whether the node deserves a backoff), None if the caller
        goes on with it.
        """
        quorum = self._quorum
        if claim.epoch < quorum.epoch or error == ErrorCode.UNKNOWN_LEADER_EPOCH:
            return True
        if claim.epoch > quorum.epoch or error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER):
            role = quorum.role
            self.learn(claim, now_ms)
            # Who was asked and knows no more than we do is not asked again at once.
            return quorum.role is not role
        if self._is_better(self._with_known_endpoints(claim)):
            self.learn(claim, now_ms)
            return None if error == ErrorCode.NONE else True
        if error == ErrorCode.BROKER_NOT_AVAILABLE:
            return False
        # The node at that address is not the voter we took it for, or does not take our request: ask again later.
        return False if error in (ErrorCode.INVALID_VOTER_KEY, ErrorCode.INVALID_REQUEST) else None

    def _is_better(self, claim: LeaderClaim) -> bool:
        """Whether a claim for our epoch tells more than we know: another one as leader, or more of its endpoints."""
        role = self._quorum.role
        if claim.epoch != role.epoch or claim.leader_id in (None, self._context.local.id):
            return False
        return role.leader_id is None or len(claim.endpoints) > len(role.leader_endpoints)

    def _with_known_endpoints(self, claim: LeaderClaim) -> LeaderClaim:
        """A claim that gives no address, with those that the voter set has."""
        if claim.endpoints or claim.leader_id is None:
            return claim
        return replace(claim, endpoints=self._quorum.voters.endpoints(claim.leader_id))

    def _leave(self) -> None:
        """Ends what only the present role can go on with."""
        role = self._quorum.role
        if isinstance(role, Follower):
            role.set_download(None)
        elif isinstance(role, Leader):
            abandon_changes(self._context, role)
