"""The in-sync replicas of a partition that is led here, and the change of them that the controller was asked for.

A leader proposes, the controller decides (AlterPartition, KIP-497). While a proposal is under way it is not known
which ISR holds, so the larger one counts for the high watermark: with ISR {1, 2}, expanding to {1, 2, 3} waits for 3
at once; shrinking to {1} still waits for 2. One proposal is under way at a time. An answer to anything but that one
is stale.
"""

from enum import Enum, auto
from typing import Final

from ottla.protocol.errors import ApiError, ErrorCode
from ottla.replication.ports import LeaderAndIsr


class Answered(Enum):
    """The result of a proposal."""

    ACCEPTED = auto()
    REFUSED = auto()
    """The controller said that nothing was changed: what held before still does."""
    UNDECIDED = auto()
    """This leader is behind: it stays cautious until the metadata tells how it is."""
    STALE = auto()
    """The answer is to something that the metadata has overtaken."""
    RETRY = auto()


_REFUSALS: Final = frozenset({ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED})
_OVERTAKEN: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NEW_LEADER_ELECTED,
    }
)


class Isr:
    """The ISR as the controller confirmed it (`members`), and as it may be by now (`maximal`)."""

    __slots__ = ("maximal", "members", "partition_epoch", "proposed")

    def __init__(self, members: frozenset[int], partition_epoch: int) -> None:
        self.members = members
        self.maximal = members
        self.partition_epoch = partition_epoch
        self.proposed: LeaderAndIsr | None = None

    def __repr__(self) -> str:
        return f"Isr({sorted(self.members)}, epoch {self.partition_epoch}, proposed {self.proposed})"

    @property
    def is_pending(self) -> bool:
        """Whether a proposal is under way."""
        return self.proposed is not None

    def propose(self, proposed: LeaderAndIsr) -> None:
        """The controller is asked for another ISR."""
        self.proposed = proposed
        self.maximal = self.members | {member.broker_id for member in proposed.isr}

    def commit(self, members: frozenset[int], partition_epoch: int) -> None:
        """The metadata, or an answer, says what holds; a proposal that is under way is overtaken."""
        self.members = self.maximal = members
        self.partition_epoch = partition_epoch
        self.proposed = None

    def answered(self, proposed: LeaderAndIsr, answer: LeaderAndIsr | ApiError) -> Answered:
        """Takes the controller's answer to a proposal."""
        if self.proposed is not proposed:
            return Answered.STALE
        if isinstance(answer, LeaderAndIsr):
            if answer.leader_epoch != proposed.leader_epoch or answer.partition_epoch < self.partition_epoch:
                return Answered.UNDECIDED
            self.commit(frozenset(member.broker_id for member in answer.isr), answer.partition_epoch)
            return Answered.ACCEPTED
        if answer.code in _REFUSALS:
            self.commit(self.members, self.partition_epoch)
            return Answered.REFUSED
        return Answered.UNDECIDED if answer.code in _OVERTAKEN else Answered.RETRY
