"""The identity of a commit: a member of the group, or a consumer with partitions assigned by hand."""

from typing import Final

from ottla.client.consumer.membership import GroupMembership, GroupMetadata
from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.protocol.errors import ApiError


class Identity:
    """The `Member` of `offset_commit`."""

    def __init__(self, group_id: str, subscription: SubscriptionState, membership: GroupMembership) -> None:
        self._outsider: Final = GroupMetadata(group_id)
        self._subscription: Final = subscription
        self._membership: Final = membership

    def metadata(self) -> GroupMetadata:
        """The member while the group decides about partitions, else an outsider."""
        return self._membership.metadata() if self._subscription.is_group_managed else self._outsider

    @property
    def may_commit(self) -> bool:
        """Whether it may commit: always with partitions assigned by hand, else only as a member of the group."""
        return not self._subscription.is_group_managed or self._membership.metadata().generation_id >= 0

    def outsider(self) -> GroupMetadata:
        """The group without a member."""
        return self._outsider

    def rejoin_needed(self, error: ApiError) -> None:
        """Passes it on to the membership, if there is one in use."""
        if self._subscription.is_group_managed:
            self._membership.rejoin_needed(error)

    async def refresh_epoch(self) -> bool:
        """Whether a commit may be repeated, as who we are now."""
        return await self._membership.refresh_epoch() if self._subscription.is_group_managed else False
