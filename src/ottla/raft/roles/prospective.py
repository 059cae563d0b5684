"""Prospective: asks a majority for its pre-vote before it disturbs the quorum with a new epoch (KIP-996).

A replica that was cut off finds out here that the others have a leader, and goes back to following it.
Leaves to: candidate, follower, unattached.
"""

from typing import ClassVar

from ottla.base.frozen import frozen
from ottla.raft.endpoint import Endpoints
from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.role import Ballot, Role, RoleKind, uncommitted_can_grant_vote
from ottla.raft.roles.tally import VoteTally


@frozen
class Nomination:
    """An election that we stand in: the votes, and how long we wait for them."""

    tally: VoteTally
    deadline_ms: int


class Prospective(Role):
    """Keeps the vote and the leader of the epoch, which has not changed."""

    kind: ClassVar[RoleKind] = RoleKind.PROSPECTIVE

    def __init__(
        self, election: ElectionState, high_watermark: int | None, nomination: Nomination, leader_endpoints: Endpoints
    ) -> None:
        super().__init__(election, high_watermark)
        self.tally = nomination.tally
        self.election_deadline_ms = nomination.deadline_ms
        self._leader_endpoints = leader_endpoints

    @property
    def leader_endpoints(self) -> Endpoints:
        return self._leader_endpoints

    def can_grant_vote(self, ballot: Ballot) -> bool:
        return uncommitted_can_grant_vote(self.election, ballot)
