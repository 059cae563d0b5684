"""Leader: has the votes of a majority, appends, and commits what a majority holds.

The high watermark is the largest offset that a majority of the voters holds durably, and only from the first record
of this epoch on: a record of an earlier epoch that a majority holds can still be overwritten (raft §5.4.2). The leader
counts itself for what it has flushed, and not at all once it is no voter. Leaves to: resigned, and in a later epoch
unattached or follower.
"""

from typing import ClassVar

from ottla.raft.config import CHECK_QUORUM_TIMEOUT_FACTOR, NEVER_MS, OBSERVER_SESSION_TIMEOUT_MS
from ottla.raft.endpoint import NO_ENDPOINTS, Endpoints
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import LocalReplica, ReplicaKey
from ottla.raft.log.accumulator import BatchAccumulator
from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.replica_progress import UNKNOWN, ReplicaProgress
from ottla.raft.roles.role import Ballot, Role, RoleKind
from ottla.raft.voters.change import PendingChanges
from ottla.raft.voters.voter_set import VoterSet

_CAUGHT_UP_WITHIN_MS = 3_600_000


class Leader(Role):
    """Keeps what each replica holds, the timers of the leadership, and records on their way to the log."""

    kind: ClassVar[RoleKind] = RoleKind.LEADER

    def __init__(
        self, election: ElectionState, local: LocalReplica, voters: VoterSet, accumulator: BatchAccumulator
    ) -> None:
        super().__init__(election, None)
        self.local = local
        self.epoch_start_offset = accumulator.base_offset
        self.accumulator = accumulator
        self.granting_voters: list[int] = []
        self.voters = {voter.key.id: ReplicaProgress(voter.key, voter.endpoints) for voter in voters.by_id.values()}
        self.observers: dict[ReplicaKey, ReplicaProgress] = {}
        self.changes = PendingChanges()
        self.resign_requested = False
        self.begin_quorum_deadline_ms = 0
        self._check_quorum_deadline_ms = NEVER_MS
        self._fetch_timeout_ms = 0
        self._fetched_voters: set[int] = set()

    def start(self, now_ms: int, fetch_timeout_ms: int) -> None:
        """Starts the timers: the announcements are due at once."""
        self._fetch_timeout_ms = fetch_timeout_ms
        self.begin_quorum_deadline_ms = now_ms
        self._check_quorum_deadline_ms = now_ms + self.check_quorum_timeout_ms

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.local.endpoints

    @property
    def check_quorum_timeout_ms(self) -> int:
        """The time for which a leader may not hear from a majority."""
        return int(self._fetch_timeout_ms * CHECK_QUORUM_TIMEOUT_FACTOR)

    @property
    def check_quorum_deadline_ms(self) -> int:
        """The time to step down for want of a majority; a sole voter always has one."""
        return NEVER_MS if len(self.voters) == 1 else self._check_quorum_deadline_ms

    def can_grant_vote(self, ballot: Ballot) -> bool:
        return False

    def silent_voters(self, now_ms: int) -> list[ReplicaKey]:
        """Voters that may not know us: they have not fetched for half a fetch timeout."""
        since_ms = now_ms - self._fetch_timeout_ms // 2
        return [
            voter.key
            for voter in self.voters.values()
            if voter.key.id != self.local.id and (voter.last_fetch_ms == UNKNOWN or voter.last_fetch_ms <= since_ms)
        ]

    def announced(self, now_ms: int) -> None:
        """BeginQuorumEpoch went out; the next one is due half a fetch timeout later."""
        self.begin_quorum_deadline_ms = now_ms + self._fetch_timeout_ms // 2

    def heard_from(self, replica: ReplicaKey, now_ms: int) -> None:
        """A replica fetched: once that makes a majority, the check-quorum timer starts again."""
        voter = self.voters.get(replica.id)
        if voter is not None and voter.key.is_met_by(replica):
            self._fetched_voters.add(replica.id)
        needed = len(self.voters) // 2 + 1 - (self.local.id in self.voters)
        if len(self._fetched_voters) >= needed:
            self._fetched_voters.clear()
            self._check_quorum_deadline_ms = now_ms + self.check_quorum_timeout_ms

    def replica_fetched(self, replica: ReplicaKey, fetch_offset: int, now_ms: int) -> bool:
        """Notes that a replica holds everything before `fetch_offset`; whether that moved the high watermark."""
        if replica.id < 0:
            return False
        progress = self._progress(replica)
        progress.fetched(fetch_offset, self._progress(self.local.key).end_offset, now_ms)
        self.heard_from(replica, now_ms)
        return self.voters.get(replica.id) is progress and self._advance_high_watermark()

    def flushed(self, end_offset: int, voters: VoterSet) -> bool:
        """Notes what we hold durably ourselves, and who votes now; whether that moved the high watermark."""
        own = self._progress(self.local.key)
        if own.end_offset is not None and own.end_offset > end_offset:
            raise RaftInvariantError(f"a leader's log shrank from {own.end_offset} to {end_offset}")
        own.end_offset = end_offset
        self._adopt(voters)
        return self._advance_high_watermark()

    def is_caught_up(self, replica: ReplicaKey, now_ms: int) -> bool:
        """Whether an observer follows closely enough to vote."""
        progress = self.observers.get(replica)
        return (
            progress is not None
            and progress.last_caught_up_ms > 0
            and progress.last_fetch_ms > now_ms - _CAUGHT_UP_WITHIN_MS
        )

    def preferred_successors(self) -> list[ReplicaKey]:
        """The other voters, those with the most first."""
        ranked = sorted(self.voters.values(), key=lambda voter: voter.rank)
        return [voter.key for voter in ranked if not voter.key.is_met_by(self.local.key)]

    def live_observers(self, now_ms: int) -> list[ReplicaProgress]:
        """Observers that fetched lately; the others are forgotten."""
        for key, observer in list(self.observers.items()):
            if key != self.local.key and now_ms - observer.last_fetch_ms >= OBSERVER_SESSION_TIMEOUT_MS:
                del self.observers[key]
        return list(self.observers.values())

    def _progress(self, replica: ReplicaKey) -> ReplicaProgress:
        voter = self.voters.get(replica.id)
        if voter is not None and voter.key.is_met_by(replica):
            return voter
        return self.observers.setdefault(replica, ReplicaProgress(replica, NO_ENDPOINTS))

    def _adopt(self, voters: VoterSet) -> None:
        """Sorts replicas into voters and observers again; what we know of each stays."""
        if {voter.key for voter in self.voters.values()} == set(voters.keys):
            for voter in voters.by_id.values():
                self.voters[voter.key.id].endpoints = voter.endpoints
            return
        former, self.voters = self.voters, {}
        for voter in voters.by_id.values():
            progress = former.get(voter.key.id)
            if progress is not None and progress.key.is_met_by(voter.key):
                del former[voter.key.id]
            else:
                progress = self.observers.pop(voter.key, None) or ReplicaProgress(voter.key, voter.endpoints)
            progress.key, progress.endpoints = voter.key, voter.endpoints
            self.voters[voter.key.id] = progress
        for progress in former.values():
            progress.endpoints = NO_ENDPOINTS
            self.observers.setdefault(progress.key, progress)

    def majority_end_offset(self) -> int | None:
        """The largest offset that a majority holds: with ends 9, 7, 4 it is 7; with 9, 7, 4, 2 it is 4."""
        ends = sorted([-1 if voter.end_offset is None else voter.end_offset for voter in self.voters.values()])
        end = ends[(len(ends) - 1) // 2]
        return None if end < 0 else end

    def _advance_high_watermark(self) -> bool:
        offset = self.majority_end_offset()
        if offset is None or offset <= self.epoch_start_offset:
            return False
        # A voter that comes back with less than it had, or a smaller voter set, must not pull it down.
        if self.high_watermark is not None and offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        return True
