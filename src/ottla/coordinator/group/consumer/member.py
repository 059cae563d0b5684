"""A member of a consumer group: what it wants, where it stands, what it owns. Immutable.

`member_epoch` is how far it has followed the group: it moves to the assignment's epoch once the member gave up all
that it has to (KIP-848). -1 is nowhere (no record of what it owns), -2 a static member that said it will be back.
"""

import enum
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
STATIC_LEAVE_EPOCH: Final = -2

Owned: TypeAlias = Mapping[Uuid, Mapping[int, int]]
"""Partitions by topic id, each with the epoch in which the member got it (KIP-1251); immutable."""
NOTHING_OWNED: Final[Owned] = {}


class MemberState(enum.IntEnum):
    """The step of a member on the way to its target; the numbers are the log's."""

    STABLE = 0
    UNREVOKED = 1
    """It was told to give partitions up, and has not said that it did."""
    UNRELEASED = 2
    """It waits for partitions that others have not given up."""
    UNKNOWN = 127
    """The log has a state that came after us."""


class ClassicSide(NamedTuple):
    """The join metadata of a member that uses the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """Its favourite first; with it the member is answered."""


class ConsumerMember(NamedTuple):
    """One member."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topic_names: frozenset[str] = frozenset()
    topic_regex: str | None = ""
    server_assignor: str | None = None
    classic: ClassicSide | None = None
    state: MemberState = MemberState.STABLE
    member_epoch: int = JOIN_EPOCH
    previous_member_epoch: int = -1
    assigned: Owned = NOTHING_OWNED
    revoking: Owned = NOTHING_OWNED

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Whether it has what that assignment gives it, and nothing else."""
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch

    def moved(self, state: MemberState, epoch: int, assigned: Owned, revoking: Owned) -> "ConsumerMember":
        """The member in its next state; the epoch that it leaves is remembered, for answers that got lost."""
        return self._replace(
            state=state,
            member_epoch=epoch,
            previous_member_epoch=self.member_epoch,
            assigned=assigned,
            revoking=revoking,
        )

    @property
    def owned(self) -> Assignment:
        """The partitions that it has until it says that it gave them up."""
        return {
            topic_id: frozenset(self.assigned.get(topic_id, ())) | frozenset(self.revoking.get(topic_id, ()))
            for topic_id in (*self.assigned, *self.revoking)
        }

    def assignment_epoch(self, topic_id: Uuid, partition: int) -> int | None:
        """The epoch in which it got a partition that it owns or is giving up; None if it does neither."""
        epoch = self.assigned.get(topic_id, {}).get(partition)
        return self.revoking.get(topic_id, {}).get(partition) if epoch is None else epoch
