"""Walks the table of roles: what it allows happens, what it does not raises."""

from collections.abc import Callable
from itertools import product

import pytest

from ottla.raft.config import QuorumConfig
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, LocalReplica, OffsetAndEpoch
from ottla.raft.log.accumulator import BatchAccumulator
from ottla.raft.log.memory_log import MemoryLog, MemoryQuorumState, MemorySnapshots
from ottla.raft.quorum import Quorum
from ottla.raft.quorum_state import decode
from ottla.raft.roles.candidate import Candidate
from ottla.raft.roles.role import RoleKind
from ottla.raft.snapshot.writer import bootstrap_snapshot
from ottla.raft.transition import TRANSITIONS, EpochStep
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.voter_set import NO_VOTERS
from tests.unit.raft.replica import START_MS, LowestDice, endpoints, key, voter_set

PAIRS = list(product(RoleKind, RoleKind))


class Seat:
    """A quorum in its first epoch, in a role of choice."""

    def __init__(self, kind: RoleKind) -> None:
        log = MemoryLog()
        self.store = MemoryQuorumState()
        snapshots = MemorySnapshots(log)
        snapshots.store(BOOTSTRAP_SNAPSHOT_ID, bootstrap_snapshot(1, voter_set(1, 2, 3), (), START_MS))
        voters = VoterHistory(NO_VOTERS, log, snapshots)
        voters.update()
        config = QuorumConfig()
        self.quorum = Quorum(LocalReplica(key(1), endpoints(1)), config, voters, self.store, LowestDice())
        self.quorum.start(OffsetAndEpoch(offset=0, epoch=0), START_MS)
        for step in _WAYS[kind]:
            self.go(step, epoch=self.quorum.epoch)
        assert self.quorum.role.kind is kind

    def go(self, kind: RoleKind, epoch: int) -> None:
        quorum = self.quorum
        ways: dict[RoleKind, Callable[[], object]] = {
            RoleKind.UNATTACHED: lambda: quorum.to_unattached(epoch, None, START_MS),
            RoleKind.PROSPECTIVE: lambda: quorum.to_prospective(START_MS),
            RoleKind.CANDIDATE: lambda: quorum.to_candidate(START_MS),
            RoleKind.LEADER: self._lead,
            RoleKind.FOLLOWER: lambda: quorum.to_follower(epoch, 2, endpoints(2), START_MS),
            RoleKind.RESIGNED: lambda: quorum.to_resigned([], START_MS),
        }
        ways[kind]()

    def _lead(self) -> None:
        if isinstance(self.quorum.role, Candidate):
            self.quorum.role.tally.record(2, granted=True)
        self.quorum.to_leader(BatchAccumulator(self.quorum.epoch, 0, QuorumConfig()), START_MS)


_WAYS = {
    RoleKind.UNATTACHED: (),
    RoleKind.PROSPECTIVE: (RoleKind.PROSPECTIVE,),
    RoleKind.CANDIDATE: (RoleKind.PROSPECTIVE, RoleKind.CANDIDATE),
    RoleKind.LEADER: (RoleKind.PROSPECTIVE, RoleKind.CANDIDATE, RoleKind.LEADER),
    RoleKind.FOLLOWER: (RoleKind.FOLLOWER,),
    RoleKind.RESIGNED: (RoleKind.PROSPECTIVE, RoleKind.CANDIDATE, RoleKind.LEADER, RoleKind.RESIGNED),
}


def _name(pair: tuple[RoleKind, RoleKind]) -> str:
    return f"{pair[0].value}-{pair[1].value}"


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair in TRANSITIONS], ids=_name)
def test_allowed_transitions_happen_and_durable_ones_are_written(pair: tuple[RoleKind, RoleKind]) -> None:
    seat = Seat(pair[0])
    before = seat.store.text
    if pair == (RoleKind.PROSPECTIVE, RoleKind.PROSPECTIVE):
        seat.quorum.record_vote(key(2), START_MS)
    else:
        seat.go(pair[1], epoch=seat.quorum.epoch + 1)
    assert seat.quorum.role.kind is pair[1]
    assert seat.store.text is not None
    if TRANSITIONS[pair].is_durable:
        assert decode(seat.store.text).epoch == seat.quorum.epoch
        assert decode(seat.store.text).voted_key == seat.quorum.role.election.voted_key
        assert decode(seat.store.text).leader_id == seat.quorum.role.leader_id
    else:
        assert seat.store.text == before


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair not in TRANSITIONS], ids=_name)
def test_other_transitions_are_refused(pair: tuple[RoleKind, RoleKind]) -> None:
    seat = Seat(pair[0])
    with pytest.raises(RaftInvariantError):
        seat.go(pair[1], epoch=seat.quorum.epoch + 1)
    assert seat.quorum.role.kind is pair[0]


@pytest.mark.parametrize("kind", [RoleKind.CANDIDATE, RoleKind.LEADER, RoleKind.FOLLOWER, RoleKind.RESIGNED])
def test_unattached_needs_a_later_epoch(kind: RoleKind) -> None:
    seat = Seat(kind)
    with pytest.raises(RaftInvariantError):
        seat.go(RoleKind.UNATTACHED, epoch=seat.quorum.epoch)


@pytest.mark.parametrize("kind", list(RoleKind))
def test_no_role_goes_back_an_epoch(kind: RoleKind) -> None:
    seat = Seat(kind)
    for target in (RoleKind.UNATTACHED, RoleKind.FOLLOWER):
        with pytest.raises(RaftInvariantError):
            seat.go(target, epoch=seat.quorum.epoch - 1)


def test_every_way_that_keeps_the_epoch_and_is_not_written_keeps_vote_and_leader() -> None:
    for pair, transition in TRANSITIONS.items():
        if not transition.is_durable:
            assert transition.epochs is EpochStep.SAME, pair


def test_a_replica_that_votes_for_nobody_twice() -> None:
    seat = Seat(RoleKind.UNATTACHED)
    seat.quorum.record_vote(key(2), START_MS)
    with pytest.raises(RaftInvariantError):
        seat.quorum.record_vote(key(3), START_MS)
