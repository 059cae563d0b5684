"""The state machine on the committed log: the port between the driver of the quorum and its listeners."""

from collections.abc import Callable
from typing import Protocol

from ottla.raft.effect import ApplyCommitted
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch

Done = Callable[[], None]


class StateMachine(Protocol):
    """Follows the committed log. It is given one piece at a time, and the next once it calls `done`."""

    def apply_committed(self, effect: ApplyCommitted, done: Done) -> None:
        """Takes committed batches; `done` may be called before this returns, or in a later turn of the loop."""
        ...

    def load_snapshot(self, snapshot_id: OffsetAndEpoch, done: Done) -> None:
        """Takes the state of a snapshot in place of its own."""
        ...

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        """Learns of a new epoch or leader."""
        ...

    def role_settled(self) -> None:
        """Whatever the quorum had to say for now is said; its role may have changed."""
        ...
