"""A follower's requests to a partition's leader on another broker; the broker implements them with its client."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ottla.base.buffer import Buffer
from ottla.base.ids import Uuid
from ottla.protocol.errors import ApiError
from ottla.storage.leader_epoch.checkpoint import EpochEntry


class ReplicaFetch(NamedTuple):
    """A follower's fetch of one partition."""

    topic: str
    topic_id: Uuid
    partition: int
    fetch_offset: int
    log_start_offset: int
    """The follower's own."""
    current_leader_epoch: int
    last_fetched_epoch: int
    """The epoch of the last record that the follower has; -1 if it has none."""


class ReplicaFetched(NamedTuple):
    """The leader's answer for one partition."""

    error_code: int
    records: Buffer
    high_watermark: int
    log_start_offset: int
    diverging_epoch: EpochEntry | None = None


class TopicIdPartition(NamedTuple):
    """A partition, by the id of its topic."""

    topic_id: Uuid
    partition: int


class OffsetRequest(NamedTuple):
    """A question for one of a leader's bounds: `timestamp` is -1 for the log end, -2 for the log start."""

    topic: str
    partition: int
    current_leader_epoch: int
    timestamp: int


FetchedByPartition: TypeAlias = Mapping[TopicIdPartition, ReplicaFetched]


class LeaderEndpoint(Protocol):
    """One other broker. Every `done` is called on the loop's thread, once, never before the call returns."""

    def fetch(self, wanted: Sequence[ReplicaFetch], done: Callable[[FetchedByPartition | ApiError], None]) -> None:
        """Fetches as this replica, with the broker's settings (`replica.fetch.*`), in a fetch session if it likes.

        With a session only partitions that have something to say need be answered. An error is one of the whole
        request: the connection broke, the session was refused. One fetch is under way at a time.
        """
        ...

    def list_offset(self, request: OffsetRequest, done: Callable[[int | ApiError], None]) -> None:
        """One of the leader's bounds, as ListOffsets answers a replica."""
        ...

    def close(self) -> None:
        """Drops all requests: no `done` is called any more."""
        ...
