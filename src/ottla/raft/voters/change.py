"""Voter changes that a leader has begun and not finished. There is one at a time."""

from dataclasses import dataclass

from ottla.raft.config import NEVER_MS
from ottla.raft.endpoint import Endpoints
from ottla.raft.identity import ReplicaKey
from ottla.raft.voters.voter_set import VoterSet


@dataclass(slots=True)
class PendingAdd:
    """A voter to be added: first asked for its versions, then in the log at `last_offset`."""

    request_id: int | None
    """The request that waits for the answer; None once answered."""
    key: ReplicaKey
    endpoints: Endpoints
    ack_when_committed: bool
    deadline_ms: int
    last_offset: int | None = None


@dataclass(slots=True)
class PendingRemove:
    """A voter to be removed: in the log at `last_offset`."""

    request_id: int
    last_offset: int
    deadline_ms: int


@dataclass(slots=True)
class PendingChanges:
    """A voter change that a leader has begun."""

    add: PendingAdd | None = None
    remove: PendingRemove | None = None
    volatile_voters: VoterSet | None = None
    """At kraft.version 0, what voters told of themselves: the directories that an upgrade to 1 needs."""
    requested_version: int | None = None
    """The kraft.version whose record is on its way."""

    @property
    def is_any_pending(self) -> bool:
        """Whether a voter is being added or removed."""
        return self.add is not None or self.remove is not None

    @property
    def deadline_ms(self) -> int:
        """The time at which the change that is under way is given up."""
        return min((change.deadline_ms for change in (self.add, self.remove) if change is not None), default=NEVER_MS)
