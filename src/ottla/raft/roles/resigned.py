"""Resigned: was the leader of this epoch, and tells the voters so that they elect another at once.

It is also what a leader finds itself after a restart: it may have answered as leader, so it can't do anything else in
this epoch. Leaves to: unattached in the next epoch when the time is up, follower or unattached in a later one.
"""

from collections.abc import Iterable
from typing import ClassVar

from ottla.raft.endpoint import Endpoints
from ottla.raft.identity import ReplicaKey
from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.role import Role, RoleKind


class Resigned(Role):
    """Keeps who has yet to acknowledge the end of the epoch."""

    kind: ClassVar[RoleKind] = RoleKind.RESIGNED

    def __init__(
        self,
        election: ElectionState,
        election_deadline_ms: int,
        preferred_successors: Iterable[ReplicaKey],
        endpoints: Endpoints,
    ) -> None:
        super().__init__(election, None)
        self.election_deadline_ms = election_deadline_ms
        self.preferred_successors = list(preferred_successors)
        self.unacknowledged = {voter for voter in election.voters if voter != election.leader_id}
        self._endpoints = endpoints

    @property
    def leader_endpoints(self) -> Endpoints:
        return self._endpoints
