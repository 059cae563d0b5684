"""A member of a group in this process, without records: what a consumer asks of its membership, and nothing else.

It plays the consumer's part: hands partitions out at once, as if the user polled all the time, and writes down what it
was told.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.group.factory import membership_of
from ottla.client.consumer.membership import LeaveOperation
from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.client.record import TopicPartition

Told = tuple[str, frozenset[TopicPartition]]
QUICK = {"heartbeat_interval_ms": 300, "session_timeout_ms": 6_000, "retry_backoff_ms": 20}
"""Classic members are quick with this; others are told by the broker."""


class GroupMember:
    """A membership and its host. `told` has what happened to the partitions, in order."""

    def __init__(self, bootstrap: str, group: str, **settings: object) -> None:
        quick = {} if settings.get("group_protocol") == "consumer" else QUICK
        self.settings = ClientSettings.of(
            CONSUMER_KEYS, None, bootstrap_servers=bootstrap, group_id=group, **{**quick, **settings}
        )
        self.cluster = ClusterClient(self.settings)
        self.subscription = SubscriptionState()
        self.membership = membership_of(self.cluster, self.settings, self)
        self.told: list[Told] = []
        self.polls = True
        self._polling: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "GroupMember":
        await self.cluster.start()
        self._polling = asyncio.create_task(self._poll())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def subscribe(self, topics: Iterable[str]) -> None:
        """As the user does."""
        self.cluster.want_topics(topics)
        self.subscription.subscribe_topics(topics, None)
        self.membership.start()
        self.membership.subscription_changed()

    async def close(self, operation: LeaveOperation = LeaveOperation.DEFAULT) -> None:
        """As the user does."""
        if self._polling is None:
            return
        self._polling.cancel()
        self._polling = None
        await self.membership.leave(asyncio.get_running_loop().time() + 10, operation)
        await self.cluster.close()

    async def _poll(self) -> None:
        while True:
            if self.polls:
                self.membership.polled()
            await asyncio.sleep(0.05)

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """What it has now."""
        return self.subscription.assignment()

    async def revoke(self, partitions: frozenset[TopicPartition]) -> None:
        """As a consumer without offsets to commit."""
        await self._take("revoked", partitions)

    async def lose(self, partitions: frozenset[TopicPartition]) -> None:
        """The same."""
        await self._take("lost", partitions)

    async def _take(self, how: str, partitions: frozenset[TopicPartition]) -> None:
        await self._until_polled()
        here = partitions & self.owned
        self.told.append((how, here))
        self.subscription.assign_from_group(self.owned - here)

    async def assign(self, partitions: frozenset[TopicPartition], added: frozenset[TopicPartition]) -> None:
        """Takes the new assignment over."""
        await self._until_polled()
        self.subscription.assign_from_group(partitions)
        self.told.append(("assigned", added))

    async def _until_polled(self) -> None:
        while not self.polls:
            await asyncio.sleep(0.02)

    def stop_delivery(self, partitions: frozenset[TopicPartition]) -> None:
        """There are no records anyway."""

    def attention_needed(self) -> None:
        """Nobody waits in a poll here."""


async def until(condition: Any, seconds: float = 30) -> None:
    """Waits for something to become true."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError("it did not happen") from None
