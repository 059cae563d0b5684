"""Unattached: in an epoch, without a leader.

A voter becomes prospective when the election timeout is up; an observer waits for a message that names the leader.
Leaves to: itself in a later epoch, prospective, follower.
"""

from typing import ClassVar

from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.role import Ballot, Role, RoleKind, uncommitted_can_grant_vote


class Unattached(Role):
    """Knows the epoch, perhaps its leader's id, never where that leader listens."""

    kind: ClassVar[RoleKind] = RoleKind.UNATTACHED

    def __init__(self, election: ElectionState, high_watermark: int | None, election_deadline_ms: int) -> None:
        super().__init__(election, high_watermark)
        self.election_deadline_ms = election_deadline_ms

    def can_grant_vote(self, ballot: Ballot) -> bool:
        return uncommitted_can_grant_vote(self.election, ballot)
