"""A consumer's subscription, its partitions, and its position in each.

Pure bookkeeping: it sends no request and decides nothing about groups. Two owners share a `PartitionState`. Its
position, pause and version belong to the user's calls; its fetch offset and the leader's answers belong to the fetcher.
They meet in `version`: a move of the position on purpose (a seek, a reset, a truncation) raises it, and all that was
fetched under an older version is worthless.

Position 7, fetched ahead to 20, seek(3): version 0 -> 1, position and fetch offset 3; batches 7..19 that arrive or
wait with version 0 are dropped.
"""

import re
from collections.abc import Collection, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.client.consumer.offset.offset_reset import OffsetReset
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.errors import InvalidStateError
from ottla.client.record import OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:
    from ottla.client.consumer.rebalance_listener import RebalanceListener


UNCHECKED: Final = -2
"""No leader epoch: the position has not been compared with any leader's log. (-1 is that of leaders without epochs.)"""


class SubscriptionKind(Enum):
    """The ways to choose partitions, which exclude each other."""

    NONE = "none"
    TOPICS = "topics"
    PATTERN = "pattern"
    SERVER_PATTERN = "server pattern"
    MANUAL = "manual"


class Position(NamedTuple):
    """The offset of the next record, and the leader epoch of the one before it, if known (KIP-320)."""

    offset: int
    epoch: int | None = None


class PartitionState:
    """One assigned partition."""

    __slots__ = (
        "fetch_position",
        "fetched_bytes",
        "high_watermark",
        "is_in_flight",
        "is_paused",
        "is_pending_revocation",
        "last_stable_offset",
        "log_start_offset",
        "needs_validation",
        "partition",
        "position",
        "read_replica",
        "read_replica_until_s",
        "reset",
        "retry_at_s",
        "taken_bytes",
        "validated_epoch",
        "version",
    )

    def __init__(self, partition: TopicPartition) -> None:
        self.partition: Final = partition
        self.position: Position | None = None
        """Where the user stands: what `position()` says and what is committed."""
        self.fetch_position: Position | None = None
        """The next offset to fetch: the position, or the one behind the buffered records."""
        self.version = 0
        self.is_paused = False
        self.is_pending_revocation = False
        self.reset: OffsetReset | None = None
        self.needs_validation = False
        self.validated_epoch = UNCHECKED
        """The leader epoch under which the position was last known to be in the leader's log."""
        self.read_replica: int | None = None
        self.read_replica_until_s = 0.0
        self.retry_at_s = 0.0
        self.is_in_flight = False
        self.fetched_bytes = self.taken_bytes = 0
        """Counted up by the fetcher and by the user's calls, each its own: no thread writes what another one does."""
        self.high_watermark: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None

    def seek(self, position: Position) -> None:
        """Moves the position on purpose; what was fetched or pending for the old one no longer counts."""
        self.version += 1
        self.position = self.fetch_position = position
        self.reset = None
        self.needs_validation = False
        self.validated_epoch = UNCHECKED
        self.read_replica = None
        self.retry_at_s = 0.0

    def request_reset(self, reset: OffsetReset) -> None:
        """Gives up the position until the partition's leader has said where the reset leads."""
        self.version += 1
        self.position = self.fetch_position = None
        self.reset = reset
        self.needs_validation = False
        self.read_replica = None
        self.retry_at_s = 0.0

    def refetch(self) -> None:
        """Drops what was fetched ahead: fetching goes on at the user's position."""
        self.version += 1
        self.fetch_position = self.position

    def drop(self) -> None:
        """The partition is no longer assigned."""
        self.version += 1
        self.position = self.fetch_position = self.reset = None

    @property
    def buffered_bytes(self) -> int:
        """Fetched data that was not taken yet, outdated or not."""
        return self.fetched_bytes - self.taken_bytes

    @property
    def is_deliverable(self) -> bool:
        """Whether records may be handed out."""
        return not self.is_paused and not self.is_pending_revocation

    @property
    def is_fetchable(self) -> bool:
        """Whether records may be asked for."""
        return self.position is not None and self.is_deliverable and not self.needs_validation


class SubscriptionState:
    """All assigned partitions, and the subscription they come from."""

    def __init__(self) -> None:
        self.kind = SubscriptionKind.NONE
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.server_pattern: SubscriptionPattern | None = None
        self.listener: RebalanceListener | None = None
        self.assigned: dict[TopicPartition, PartitionState] = {}

    @property
    def is_group_managed(self) -> bool:
        """Whether a group decides about the partitions."""
        return self.kind not in (SubscriptionKind.NONE, SubscriptionKind.MANUAL)

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that the consumer has now."""
        return frozenset(self.assigned)

    def subscribe_topics(self, topics: Iterable[str], listener: "RebalanceListener | None") -> bool:
        """Subscribes to topics by name in place of the former ones; whether that changed anything."""
        wanted = frozenset(topics)
        changed = self.kind is not SubscriptionKind.TOPICS or wanted != self.topics
        self._begin(SubscriptionKind.TOPICS, listener)
        self.topics = wanted
        return changed

    def subscribe_pattern(
        self, pattern: re.Pattern[str] | SubscriptionPattern, listener: "RebalanceListener | None"
    ) -> None:
        """Subscribes to topics by pattern."""
        if isinstance(pattern, SubscriptionPattern):
            self._begin(SubscriptionKind.SERVER_PATTERN, listener)
            self.server_pattern, self.topics = pattern, frozenset()
        else:
            self._begin(SubscriptionKind.PATTERN, listener)
            self.pattern = pattern

    def match(self, topics: Iterable[str]) -> bool:
        """Applies the client's pattern to the topics there are; whether the subscribed topics changed."""
        if self.pattern is None:
            return False
        matched = frozenset(name for name in topics if self.pattern.fullmatch(name))
        changed, self.topics = matched != self.topics, matched
        return changed

    def assign_manually(self, partitions: Collection[TopicPartition]) -> None:
        """Assigns partitions without a group; those that the consumer had keep their positions."""
        self._begin(SubscriptionKind.MANUAL, None)
        self._assign(partitions)

    def assign_from_group(self, partitions: Collection[TopicPartition]) -> None:
        """Takes over the group's assignment; partitions that the consumer had keep their positions."""
        self._assign(partitions)

    def unsubscribe(self) -> None:
        """Forgets the subscription and all partitions."""
        self.kind = SubscriptionKind.NONE
        self.topics = frozenset()
        self.pattern = self.server_pattern = self.listener = None
        self._assign(())

    def state_of(self, partition: TopicPartition) -> PartitionState:
        """The state of an assigned partition; `InvalidStateError` for any other."""
        state = self.assigned.get(partition)
        if state is None:
            raise InvalidStateError(
                f"{partition.topic}-{partition.partition} is not assigned to this consumer: assign() it, or wait until "
                f"poll() has joined the group; assigned are {_listed(self.assigned) or 'none'}"
            )
        return state

    def positions(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Every known position, as it would be committed."""
        return {
            partition: OffsetAndMetadata(state.position.offset, "", state.position.epoch)
            for partition, state in self.assigned.items()
            if state.position is not None
        }

    def _begin(self, kind: SubscriptionKind, listener: "RebalanceListener | None") -> None:
        if self.kind is not kind and self.kind is not SubscriptionKind.NONE:
            raise InvalidStateError(
                f"the consumer is subscribed by {self.kind.value}, which excludes {kind.value}: unsubscribe() first"
            )
        self.kind = kind
        self.listener = listener

    def _assign(self, partitions: Collection[TopicPartition]) -> None:
        # A new dict each time: the fetcher may be walking over the old one.
        former = self.assigned
        self.assigned = {partition: former.get(partition) or PartitionState(partition) for partition in partitions}
        for partition, state in former.items():
            if partition not in self.assigned:
                state.drop()


def _listed(partitions: Iterable[TopicPartition]) -> str:
    return ", ".join(sorted(f"{topic}-{partition}" for topic, partition in partitions))
