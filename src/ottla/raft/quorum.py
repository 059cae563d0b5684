"""The replica's role in the current epoch, and the only place where it changes.

A change is checked against `transition.TRANSITIONS` and, if durable, written to quorum-state before the new role
exists for anybody. What else follows from a change (effects, connections) is for `leadership.Leadership`.
"""

from dataclasses import replace

from ottla.raft.config import NEVER_MS, QuorumConfig
from ottla.raft.endpoint import Endpoints
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import LeaderAndEpoch, LocalReplica, OffsetAndEpoch, ReplicaKey
from ottla.raft.log.accumulator import BatchAccumulator
from ottla.raft.ports import QuorumStatePort, RandomPort
from ottla.raft.quorum_state import ElectionState, decode, encode
from ottla.raft.roles.candidate import Candidate
from ottla.raft.roles.follower import Follower
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.prospective import Nomination, Prospective
from ottla.raft.roles.resigned import Resigned
from ottla.raft.roles.role import Role
from ottla.raft.roles.tally import VoteTally
from ottla.raft.roles.unattached import Unattached
from ottla.raft.transition import INITIAL_ROLES, TRANSITIONS
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.voter_set import VoterSet


class Quorum:
    """Holds the role."""

    role: Role

    def __init__(
        self,
        local: LocalReplica,
        config: QuorumConfig,
        voters: VoterHistory,
        store: QuorumStatePort,
        random: RandomPort,
    ) -> None:
        self.local = local
        self._config = config
        self._voters = voters
        self._store = store
        self._random = random

    def start(self, log_end: OffsetAndEpoch, now_ms: int) -> None:
        """Takes the role that quorum-state and log leave us with."""
        text = self._store.read()
        election = ElectionState(epoch=0) if text is None else decode(text)
        election = replace(election, voters=self.voters.ids)
        role = self._initial_role(election, log_end, now_ms)
        if role.kind not in INITIAL_ROLES:
            raise RaftInvariantError(f"a replica cannot start as {role}")
        self._persist(role)
        self.role = role

    @property
    def voters(self) -> VoterSet:
        """The voters that count now."""
        return self._voters.last_set

    @property
    def epoch(self) -> int:
        """The current epoch."""
        return self.role.epoch

    @property
    def leader(self) -> LeaderAndEpoch:
        """The current leader, if known."""
        return LeaderAndEpoch(self.role.leader_id, self.role.epoch)

    @property
    def high_watermark(self) -> int | None:
        """The offset up to which the log is known to be committed."""
        return self.role.high_watermark

    @property
    def is_voter(self) -> bool:
        """Whether we vote."""
        return self.voters.is_voter(self.local.key)

    @property
    def is_only_voter(self) -> bool:
        """Whether this node is the only voter."""
        return self.voters.is_only_voter(self.local.key)

    @property
    def has_remote_leader(self) -> bool:
        """Whether another node is known to lead."""
        return self.role.leader_id is not None and self.role.leader_id != self.local.id

    def to_unattached(self, epoch: int, leader_id: int | None, now_ms: int) -> None:
        """Enters an epoch without a leader; the current one only for want of pre-votes."""
        if epoch == self.epoch and not isinstance(self.role, Prospective):
            raise RaftInvariantError(f"already in epoch {epoch}: {self.role}")
        voted_key = self.role.election.voted_key if epoch == self.epoch else None
        election = ElectionState(epoch, leader_id, voted_key, self.voters.ids)
        self._become(Unattached(election, self.high_watermark, self._unattached_deadline_ms(now_ms)))

    def record_vote(self, candidate: ReplicaKey, now_ms: int) -> None:
        """Spends our vote of this epoch; only who is unattached or prospective still has one."""
        role = self.role
        election = replace(role.election, voted_key=candidate, voters=self.voters.ids)
        if candidate.id == self.local.id or role.election.voted_key is not None:
            raise RaftInvariantError(f"cannot vote for {candidate} as {role}")
        if isinstance(role, Unattached):
            self._become(Unattached(election, role.high_watermark, self.random_election_deadline_ms(now_ms)))
        elif isinstance(role, Prospective):
            endpoints = role.leader_endpoints
            self._become(Prospective(election, role.high_watermark, self._nomination(now_ms), endpoints))
        else:
            raise RaftInvariantError(f"cannot vote for {candidate} as {role}")

    def to_follower(self, epoch: int, leader_id: int, endpoints: Endpoints, now_ms: int) -> None:
        """Follows a leader that says where it listens."""
        if leader_id == self.local.id:
            raise RaftInvariantError(f"cannot follow ourselves in epoch {epoch}")
        if not endpoints:
            raise RaftInvariantError(f"cannot follow {leader_id} in epoch {epoch} without an address")
        is_known = isinstance(self.role, Follower) and len(endpoints) <= len(self.role.leader_endpoints)
        if epoch == self.epoch and is_known:
            raise RaftInvariantError(f"already following in epoch {epoch}: {self.role}")
        voted_key = self.role.election.voted_key if epoch == self.epoch else None
        election = ElectionState(epoch, leader_id, voted_key, self.voters.ids)
        follower = Follower(election, self.high_watermark, endpoints, self._config.fetch_timeout_ms)
        follower.start(now_ms)
        self._become(follower)

    def to_prospective(self, now_ms: int) -> Prospective:
        """Becomes prospective: asks for pre-votes; epoch, vote and leader stay."""
        election = replace(self.role.election, voters=self.voters.ids)
        endpoints = self.role.leader_endpoints
        role = Prospective(election, self.high_watermark, self._nomination(now_ms), endpoints)
        self._become(role)
        return role

    def to_candidate(self, now_ms: int) -> Candidate:
        """Votes for ourselves in the next epoch."""
        election = ElectionState(self.epoch + 1, None, self.local.key, self.voters.ids)
        role = Candidate(election, self.high_watermark, self._nomination(now_ms))
        self._become(role)
        return role

    def to_leader(self, accumulator: BatchAccumulator, now_ms: int) -> Leader:
        """Takes the office that a majority voted us into."""
        candidate = self.role
        if not isinstance(candidate, Candidate) or not candidate.tally.is_won:
            raise RaftInvariantError(f"cannot lead without a majority: {candidate}")
        election = ElectionState(self.epoch, self.local.id, None, self.voters.ids)
        leader = Leader(election, self.local, self.voters, accumulator)
        leader.granting_voters = candidate.tally.granting
        leader.start(now_ms, self._config.fetch_timeout_ms)
        self._become(leader)
        return leader

    def to_resigned(self, successors: list[ReplicaKey], now_ms: int) -> None:
        """Gives up the office; the epoch goes on without a leader."""
        election = replace(self.role.election, voters=self.voters.ids)
        deadline_ms = self.random_election_deadline_ms(now_ms)
        self._become(Resigned(election, deadline_ms, successors, self.local.endpoints))

    def random_election_deadline_ms(self, now_ms: int) -> int:
        """One to two election timeouts from now, so that voters seldom stand at the same time."""
        timeout_ms = self._config.election_timeout_ms
        return now_ms + timeout_ms + (self._random.randrange(timeout_ms) if timeout_ms else 0)

    def _nomination(self, now_ms: int) -> Nomination:
        tally = VoteTally(self.voters.keys, self.local.id)
        return Nomination(tally, self.random_election_deadline_ms(now_ms))

    def _unattached_deadline_ms(self, now_ms: int) -> int:
        """A later epoch does not buy more time: a node that waits for an election goes on waiting for it."""
        role = self.role
        if not self.is_voter:
            return NEVER_MS
        if isinstance(role, Candidate | Unattached | Resigned):
            return role.election_deadline_ms
        if isinstance(role, Prospective) and not role.tally.is_lost:
            return role.election_deadline_ms
        return self.random_election_deadline_ms(now_ms)

    def _initial_role(self, election: ElectionState, log_end: OffsetAndEpoch, now_ms: int) -> Role:
        deadline_ms = self.random_election_deadline_ms(now_ms) if self.is_voter else NEVER_MS
        if election.epoch < log_end.epoch:
            # quorum-state was lost or copied from elsewhere: the log proves that the epoch is over.
            return Unattached(ElectionState(log_end.epoch, voters=election.voters), None, deadline_ms)
        if election.leader_id == self.local.id and election.leader_id is not None:
            resigned = replace(election, voted_key=None)
            return Resigned(resigned, self.random_election_deadline_ms(now_ms), [], self.local.endpoints)
        if election.is_vote_for(self.local.key) and self.is_voter:
            return Candidate(replace(election, voted_key=self.local.key), None, self._nomination(now_ms))
        endpoints = self.voters.endpoints(election.leader_id) if election.leader_id is not None else None
        if election.leader_id is None or not endpoints:
            return Unattached(election, None, deadline_ms)
        follower = Follower(election, None, endpoints, self._config.fetch_timeout_ms)
        follower.start(now_ms)
        return follower

    def _become(self, role: Role) -> None:
        transition = TRANSITIONS.get((self.role.kind, role.kind))
        if transition is None or not transition.epochs.allows(self.epoch, role.epoch):
            raise RaftInvariantError(f"no way from {self.role} to {role}")
        if transition.voters_only and not self.is_voter:
            raise RaftInvariantError(f"only a voter becomes {role}")
        if transition.is_durable:
            self._persist(role)
        self.role = role

    def _persist(self, role: Role) -> None:
        self._store.write(encode(role.election, self._voters.kraft_version))
