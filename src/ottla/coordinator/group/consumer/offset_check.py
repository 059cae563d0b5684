"""A consumer group's rules for its offsets (KIP-848, KIP-1251)."""

from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import ConsumerMember
from ottla.coordinator.group.offsets.offset_rules import CommitClaim, PartitionCheck
from ottla.protocol.errors import (
    ApiError,
    IllegalGenerationError,
    StaleMemberEpochError,
    UnknownMemberIdError,
    UnknownServerError,
    UnsupportedVersionError,
)

_MEMBER_EPOCH_SINCE: Final = 9
"""The first OffsetCommit whose answer can say that an epoch is stale."""


class ConsumerOffsetRules:
    """The rules of one group, as it is at the moment."""

    __slots__ = ("_group", "_group_id", "is_subscribed")

    def __init__(self, group_id: str, group: ConsumerGroup) -> None:
        self._group_id: Final = group_id
        self._group: Final = group
        self.is_subscribed: Final = group.is_subscribed

    def validate_commit(self, claim: CommitClaim, now_ms: int) -> PartitionCheck | None:
        """Members commit in their epoch; in an older one, for partitions that they have had since then."""
        member_id, instance_id, epoch, is_transactional, api_version = claim
        if epoch < 0 and not self._group.members:
            return None
        if is_transactional and epoch == -1 and not member_id and instance_id is None:
            return None
        member = self._member(member_id)
        if not is_transactional and member.classic is None and api_version < _MEMBER_EPOCH_SINCE:
            raise UnsupportedVersionError("Members of a consumer group need OffsetCommit v9 or later.")
        if epoch == member.member_epoch:
            return None
        if epoch > member.member_epoch:
            raise _stale(member, f"The member is in epoch {member.member_epoch}, before {epoch}.")

        def check(topic: str, topic_id: Uuid, partition: int) -> None:
            since = member.assignment_epoch(topic_id, partition)
            if since is None:
                raise _stale(member, f"The member does not have {topic}-{partition}.")
            if epoch < since:
                raise _stale(member, f"The member has had {topic}-{partition} since epoch {since}, not {epoch}.")

        return check

    def validate_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """A client without a member id may read; a member must give its epoch."""
        if member_id is None and member_epoch < 0:
            return
        if member_id is None:
            raise UnknownServerError("An epoch is a member's, and none is named.")
        member = self._member(member_id)
        if member_epoch != member.member_epoch:
            raise _stale(member, f"The member is in epoch {member.member_epoch}, not {member_epoch}.")

    def validate_delete(self) -> None:
        """Offsets of topics without a subscriber may always be deleted."""

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        """Offsets expire from when they were committed, once the topic has no subscriber."""
        return commit_timestamp_ms

    def _member(self, member_id: str) -> ConsumerMember:
        member = self._group.members.get(member_id)
        if member is None:
            raise UnknownMemberIdError(f"{member_id} is not a member of group {self._group_id}.")
        return member


def _stale(member: ConsumerMember, message: str) -> ApiError:
    """Members of the classic protocol know epochs as generations."""
    return StaleMemberEpochError(message) if member.classic is None else IllegalGenerationError(message)
