"""The interface of every role: its epoch, its quorum-state, and whether it grants a vote."""

from enum import Enum
from typing import ClassVar

from ottla.base.frozen import frozen
from ottla.raft.endpoint import NO_ENDPOINTS, Endpoints
from ottla.raft.identity import ReplicaKey
from ottla.raft.quorum_state import ElectionState


class RoleKind(Enum):
    """The roles by name."""

    UNATTACHED = "Unattached"
    PROSPECTIVE = "Prospective"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    FOLLOWER = "Follower"
    RESIGNED = "Resigned"


@frozen
class Ballot:
    """A request for our vote."""

    candidate: ReplicaKey
    log_is_up_to_date: bool
    """Whether the candidate's log ends no earlier than ours."""
    pre_vote: bool
    """Whether it only asks what we would do (KIP-996): nothing is remembered then."""


class Role:
    """A replica's place in one epoch."""

    kind: ClassVar[RoleKind]

    def __init__(self, election: ElectionState, high_watermark: int | None) -> None:
        self.election = election
        self.high_watermark = high_watermark

    @property
    def epoch(self) -> int:
        """The epoch that the role is held in."""
        return self.election.epoch

    @property
    def leader_id(self) -> int | None:
        """The leader, if known."""
        return self.election.leader_id

    @property
    def leader_endpoints(self) -> Endpoints:
        """The leader's addresses, if known."""
        return NO_ENDPOINTS

    def can_grant_vote(self, ballot: Ballot) -> bool:
        """Whether the ballot gets our vote, in our own epoch.

        Who has spent its vote of the epoch can still say what it would do in the next.
        """
        return ballot.pre_vote and ballot.log_is_up_to_date

    def __repr__(self) -> str:
        return f"{self.kind.value}(epoch={self.epoch}, leader={self.leader_id}, high_watermark={self.high_watermark})"


def uncommitted_can_grant_vote(election: ElectionState, ballot: Ballot) -> bool:
    """The rule of the roles that may still vote in their epoch: unattached and prospective.

    A pre-vote looks at the log alone. A vote is given once: again to the same candidate, since the answer may have
    been lost, and to no candidate while the epoch is known to have a leader.
    """
    if ballot.pre_vote:
        return ballot.log_is_up_to_date
    if election.voted_key is not None:
        return election.is_vote_for(ballot.candidate)
    return election.leader_id is None and ballot.log_is_up_to_date
