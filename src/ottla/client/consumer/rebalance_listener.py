"""The user's view of a rebalance: three calls, made inside of `poll()`, `unsubscribe()` and `close()`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeAlias

from ottla.client.record import TopicPartition

Told: TypeAlias = Callable[[Any, Collection[TopicPartition]], Awaitable[None] | None]
"""Takes the consumer and the partitions; with an `AsyncConsumer` it may be a coroutine function."""


class RebalanceListener:
    """Override what you need to know. The consumer may be used from within: commit in `on_partitions_revoked`,
    seek in `on_partitions_assigned`."""

    def on_partitions_assigned(self, consumer: Any, partitions: Collection[TopicPartition]) -> Awaitable[None] | None:
        """These were added to the assignment; perhaps none were."""
        return None

    def on_partitions_revoked(self, consumer: Any, partitions: Collection[TopicPartition]) -> Awaitable[None] | None:
        """These are about to go; their offsets can still be committed."""
        return None

    def on_partitions_lost(self, consumer: Any, partitions: Collection[TopicPartition]) -> Awaitable[None] | None:
        """These are gone already, and others may have them: commits would be refused."""
        return self.on_partitions_revoked(consumer, partitions)


class CallableListener(RebalanceListener):
    """A listener made of functions."""

    def __init__(
        self, *, on_assigned: Told | None = None, on_revoked: Told | None = None, on_lost: Told | None = None
    ) -> None:
        self._on_assigned = on_assigned
        self._on_revoked = on_revoked
        self._on_lost = on_lost or on_revoked

    def on_partitions_assigned(self, consumer: Any, partitions: Collection[TopicPartition]) -> Awaitable[None] | None:
        """Calls `on_assigned`."""
        return self._on_assigned(consumer, partitions) if self._on_assigned else None

    def on_partitions_revoked(self, consumer: Any, partitions: Collection[TopicPartition]) -> Awaitable[None] | None:
        """Calls `on_revoked`."""
        return self._on_revoked(consumer, partitions) if self._on_revoked else None

    def on_partitions_lost(self, consumer: Any, partitions: Collection[TopicPartition]) -> Awaitable[None] | None:
        """Calls `on_lost`, or `on_revoked` if there is none."""
        return self._on_lost(consumer, partitions) if self._on_lost else None
