"""A classic group's rules for its offsets."""

from typing import Final

from ottla.coordinator.group.classic.group import NO_TIMESTAMP_MS, ClassicGroup
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.session import Sessions
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.group.offsets.offset_rules import CommitClaim
from ottla.protocol.errors import (
    IllegalGenerationError,
    NonEmptyGroupError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)

_KEEPS_SESSION: Final = (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE)


class ClassicOffsetRules:
    """The rules of one group, as it is at the moment."""

    __slots__ = ("_group", "_sessions", "expires_from_ms", "is_subscribed")

    def __init__(self, group: LiveGroup, sessions: Sessions) -> None:
        self._group: Final = group
        self._sessions: Final = sessions
        self.is_subscribed: Final = group.is_subscribed
        self.expires_from_ms: Final = group.expires_from_ms

    def validate_commit(self, claim: CommitClaim, now_ms: int) -> None:
        """Members commit in their generation; any client may commit in a group without members.

        While a rebalance is prepared members may still commit, which is what they join late for. Between join and sync
        they may not: their partitions may already be another member's. Transactions don't check that.
        """
        group = self._group
        member_id, instance_id, generation, is_transactional, _ = claim
        if generation < 0 and group.state is ClassicState.EMPTY:
            return
        if generation >= 0 or member_id or instance_id is not None:
            group.validate_member(member_id, instance_id)
            if generation != group.generation:
                raise IllegalGenerationError
        elif not is_transactional:
            raise UnknownMemberIdError
        if is_transactional:
            return
        if group.state is ClassicState.COMPLETING_REBALANCE:
            raise RebalanceInProgressError
        if group.state in _KEEPS_SESSION:
            end_ms = now_ms + group.members[member_id].session_timeout_ms
            self._sessions.extend(group.group_id, member_id, end_ms)

    def validate_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Any client may read: classic members send neither id nor epoch."""

    def validate_delete(self) -> None:
        """Only consumers say which topics they use; with any other members nothing may be deleted (KIP-496)."""
        if self._group.state is not ClassicState.EMPTY and not self._group.is_of_consumers:
            raise NonEmptyGroupError


def is_from_outside(claim: CommitClaim) -> bool:
    """Whether a commit claims no generation: then a group without members takes it."""
    return claim.generation_or_epoch < 0


class IdleOffsetRules:
    """The rules of a group that has no members and no soft state: what `ClassicOffsetRules` comes to, for less."""

    __slots__ = ("_group",)

    def __init__(self, group: ClassicGroup) -> None:
        self._group: Final = group

    def validate_commit(self, claim: CommitClaim, now_ms: int) -> None:
        """Any caller without a generation may: the group has no members."""
        if not is_from_outside(claim):
            raise UnknownMemberIdError

    def validate_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Any client may read."""

    def validate_delete(self) -> None:
        """Everything may be deleted."""

    def is_subscribed(self, topic: str) -> bool:
        """No caller is: the group has no members."""
        return False

    def expires_from_ms(self, commit_timestamp_ms: int) -> int:
        """From when the group became empty, or from the commit if it never had members (KIP-211)."""
        since_ms = self._group.state_timestamp_ms
        if self._group.protocol_type is None or since_ms == NO_TIMESTAMP_MS:
            return commit_timestamp_ms
        return since_ms
