"""Candidate: voted for itself in a new epoch and asks the other voters.

Leaves to: leader, follower, prospective when the time is up, unattached in a later epoch.
"""

from typing import ClassVar

from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.prospective import Nomination
from ottla.raft.roles.role import Role, RoleKind


class Candidate(Role):
    """Has spent its vote on itself."""

    kind: ClassVar[RoleKind] = RoleKind.CANDIDATE

    def __init__(self, election: ElectionState, high_watermark: int | None, nomination: Nomination) -> None:
        super().__init__(election, high_watermark)
        self.tally = nomination.tally
        self.election_deadline_ms = nomination.deadline_ms
