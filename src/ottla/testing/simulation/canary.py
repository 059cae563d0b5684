"""Deliberately broken quorums: for each invariant at least one that it must catch, or it would not catch a real one.

A canary changes one rule for as long as it is entered; the scenarios it is caught in are ordinary ones.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from ottla.base.frozen import frozen
from ottla.raft.config import QuorumConfig
from ottla.raft.replication import fetch_service
from ottla.raft.replication.divergence import FetchKind, FetchPosition
from ottla.raft.replication.fetcher import Fetcher
from ottla.raft.roles.follower import Follower
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.prospective import Prospective
from ottla.raft.roles.role import Ballot, Role
from ottla.raft.roles.unattached import Unattached
from ottla.raft.voters import add_voter, remove_voter
from ottla.raft.voters.history import VoterHistory
from ottla.testing.simulation.disk import SimulatedLog, SimulatedQuorumState
from ottla.testing.simulation.network import NetworkProfile
from ottla.testing.simulation.scenario import Scenario

Sabotage = Callable[[], AbstractContextManager[None]]


@frozen
class Canary:
    """A broken rule, and the invariant that must notice."""

    what: str
    invariant: str
    sabotage: Sabotage
    scenario: Callable[[int], Scenario] = Scenario.from_seed
    """The kind of run that it shows in."""


def _contested(seed: int) -> Scenario:
    """Leaders come and go, and candidates often meet."""
    return Scenario(
        seed=seed,
        voters=5,
        network=NetworkProfile(delay_ms_min=1, delay_ms_max=400),
        config=QuorumConfig(election_timeout_ms=300, fetch_timeout_ms=600),
        faults=("crash-leader", "isolate-leader", "restart", "heal-network", "resign"),
        fault_interval_ms=400,
        snapshot_every=0,
        chaos_ms=20_000,
    )


def _calm(seed: int) -> Scenario:
    """Two voters, and no faults."""
    return Scenario(seed=seed, voters=2, chaos_ms=1000)


def _restless(seed: int) -> Scenario:
    """Changes voters faster than the changes are committed."""
    return Scenario(
        seed=seed,
        voters=5,
        spares=2,
        network=NetworkProfile(delay_ms_min=50, delay_ms_max=200),
        faults=("add-voter", "remove-voter", "remove-voter", "isolate-leader", "heal-network"),
        fault_interval_ms=100,
        chaos_ms=12_000,
    )


def replacing(owner: Any, name: str, replacement: Any) -> Sabotage:
    """Replaces one attribute while entered."""

    @contextmanager
    def sabotage() -> Iterator[None]:
        with patch.object(owner, name, replacement):
            yield

    return sabotage


@contextmanager
def _patched_votes(can_grant_vote: Callable[[Role, Ballot], bool]) -> Iterator[None]:
    """Gives the roles that may vote another rule."""
    unattached = patch.object(Unattached, "can_grant_vote", can_grant_vote)
    with unattached, patch.object(Prospective, "can_grant_vote", can_grant_vote):
        yield


@contextmanager
def _voting_twice() -> Iterator[None]:
    """Grants a vote to every candidate with a log that is up to date, also a second one in an epoch."""

    def can_grant_vote(self: Role, ballot: Ballot) -> bool:
        return ballot.log_is_up_to_date

    with _patched_votes(can_grant_vote):
        yield


@contextmanager
def _voting_for_short_logs() -> Iterator[None]:
    """Grants the first candidate of an epoch its vote without comparing logs."""

    def can_grant_vote(self: Role, ballot: Ballot) -> bool:
        return ballot.pre_vote or self.election.voted_key is None or self.election.is_vote_for(ballot.candidate)

    with _patched_votes(can_grant_vote):
        yield


def _forgotten_state(self: SimulatedQuorumState) -> str | None:
    return None


def _most_advanced_end(self: Leader) -> int | None:
    return max((voter.end_offset for voter in self.voters.values() if voter.end_offset is not None), default=None)


def _fallible_advance(self: Follower, offset: int) -> bool:
    """Takes any high watermark, and some too low."""
    self.high_watermark = offset - 4 if offset > 8 and offset % 3 == 0 else offset
    return True


def _flush_to_nowhere(self: SimulatedLog, survived: bytes) -> None:
    """A disk that says it flushed: the last batches are gone all the same."""
    for _ in range(3):
        self.truncate_to(max(self.end_offset - 1, self.start_offset))
    self.flush()


def _take_all_positions(*arguments: Any) -> FetchPosition:
    return FetchPosition(FetchKind.VALID, arguments[2])


def _refuse_everybody(self: Role, ballot: Ballot) -> bool:
    return False


def _stand_still(self: Fetcher, follower: Follower, now_ms: int) -> int:
    """A follower that fetches once and thinks that was it."""
    if follower.high_watermark is not None:
        follower.fetch_deadline_ms = now_ms + 1000
        return now_ms + 1000
    return _real_poll(self, follower, now_ms)


_real_poll = Fetcher.poll_follower


@contextmanager
def _refusing_all_votes() -> Iterator[None]:
    with _patched_votes(_refuse_everybody):
        yield


@contextmanager
def _changing_voters_at_will() -> Iterator[None]:
    """Voter changes begin on top of changes that are not committed."""
    adding = patch.object(add_voter, "change_refusal", _nothing_against_it)
    with adding, patch.object(remove_voter, "change_refusal", _nothing_against_it):
        yield


def _nothing_against_it(*arguments: Any) -> None:
    return None


def _keep_history(self: VoterHistory, end_offset: int) -> None:
    """Voters whose record was truncated go on counting."""


CANARIES: Mapping[str, Canary] = {
    "votes-twice": Canary("a voter votes twice in an epoch", "SingleLeader", _voting_twice, _contested),
    "forgets-quorum-state": Canary(
        "quorum-state is lost in every restart",
        "MonotonicEpoch",
        replacing(SimulatedQuorumState, "read", _forgotten_state),
    ),
    "commits-alone": Canary(
        "a leader commits what any one voter holds",
        "MajorityReachedHighWatermark",
        replacing(Leader, "majority_end_offset", _most_advanced_end),
    ),
    "lets-watermark-fall": Canary(
        "a follower takes any high watermark",
        "MonotonicHighWatermark",
        replacing(Follower, "advance_high_watermark", _fallible_advance),
    ),
    "votes-for-short-logs": Canary(
        "voters elect candidates that lack committed records",
        "NoCommittedRecordLost",
        _voting_for_short_logs,
        _contested,
    ),
    "lying-disk": Canary(
        "flushed records are lost in a crash",
        "NoCommittedRecordLost",
        replacing(SimulatedLog, "crash", _flush_to_nowhere),
    ),
    "ignores-divergence": Canary(
        "a leader takes every fetch position for a prefix of its log",
        "ConsistentCommittedData",
        replacing(fetch_service, "judge_position", _take_all_positions),
    ),
    "changes-voters-at-will": Canary(
        "voter changes overlap", "VoterSetConsistency", _changing_voters_at_will, _restless
    ),
    "keeps-truncated-voters": Canary(
        "voters outlive the truncation of their record",
        "VoterSetConsistency",
        replacing(VoterHistory, "truncate_from", _keep_history),
        _restless,
    ),
    "refuses-all-votes": Canary("nobody votes", "ElectionWithinBound", _refusing_all_votes, _calm),
    "stops-fetching": Canary(
        "followers stop fetching", "AllReachHighWatermark", replacing(Fetcher, "poll_follower", _stand_still)
    ),
}
