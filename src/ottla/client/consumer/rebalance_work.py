"""The consumer's work when its group gives or takes partitions: the `RebalanceHost` of its membership.

Each step is done inside of the user's next call: only then is it sure that the user is done with the records of the
former one. A listener's exception is raised out of that call; the rebalance goes on.
"""

from collections.abc import Callable, Collection
from typing import Any, Final

from ottla.client.consumer.membership import ListenerError
from ottla.client.consumer.offset.committer import Committer
from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.client.consumer.user_call import UserCalls
from ottla.client.record import TopicPartition

_COMMIT_TIMEOUT_S: Final = 10.0


class RebalanceWork:
    """The host; `changed` is told when partitions came or went, `facade` is whom listeners are handed."""

    def __init__(
        self, subscription: SubscriptionState, calls: UserCalls, committer: Committer, changed: Callable[[], None]
    ) -> None:
        self.subscription = subscription
        self.facade: Any = None
        self.errors: Final[list[ListenerError]] = []
        """A listener's exception that has not been raised to the user yet."""
        self._calls: Final = calls
        self._committer: Final = committer
        self._changed: Final = changed

    def attention_needed(self) -> None:
        """Wakes a poll that waits."""
        self._changed()

    def stop_delivery(self, partitions: frozenset[TopicPartition]) -> None:
        """Hands out no more records of these."""
        for partition in partitions & self.subscription.assigned.keys():
            self.subscription.assigned[partition].is_pending_revocation = True

    async def revoke(self, partitions: frozenset[TopicPartition]) -> None:
        """In the user's next call: commits, tells the listener, removes."""
        if partitions:
            await self._calls.request(lambda: self.revoke_now(partitions))

    async def lose(self, partitions: frozenset[TopicPartition]) -> None:
        """In the user's next call: tells the listener, removes."""
        if partitions:
            await self._calls.request(lambda: self.lose_now(partitions))

    async def assign(self, partitions: frozenset[TopicPartition], added: frozenset[TopicPartition]) -> None:
        """In the user's next call: takes over the assignment, tells the listener."""
        await self._calls.request(lambda: self._assign_now(partitions, added))

    async def revoke_now(self, partitions: frozenset[TopicPartition]) -> None:
        """Like `revoke`, within the user's present call."""
        going = self.subscription.assignment() & partitions
        if not going:
            return
        await self._committer.commit_before_leaving(going, _COMMIT_TIMEOUT_S)
        try:
            await self._tell("on_partitions_revoked", going)
        finally:
            self._keep(self.subscription.assignment() - going)

    async def lose_now(self, partitions: frozenset[TopicPartition]) -> None:
        """Like `lose`, within the user's present call."""
        going = self.subscription.assignment() & partitions
        if not going:
            return
        try:
            await self._tell("on_partitions_lost", going)
        finally:
            self._keep(self.subscription.assignment() - going)

    async def _assign_now(self, partitions: frozenset[TopicPartition], added: frozenset[TopicPartition]) -> None:
        if not self.subscription.is_group_managed:
            return
        self._keep(partitions)
        await self._tell("on_partitions_assigned", added)

    def _keep(self, partitions: Collection[TopicPartition]) -> None:
        self.subscription.assign_from_group(partitions)
        for state in self.subscription.assigned.values():
            state.is_pending_revocation = False
        self._changed()

    async def _tell(self, event: str, partitions: frozenset[TopicPartition]) -> None:
        listener = self.subscription.listener
        if listener is None:
            return
        told = getattr(listener, event)
        try:
            await self._calls.invoke(lambda: told(self.facade, partitions))
        except Exception as error:  # the user's code: whatever it raises is handed to the user
            failure = ListenerError(f"{type(listener).__name__}.{event} raised {error!r}")
            failure.__cause__ = error
            self.errors.append(failure)
            raise failure from error
