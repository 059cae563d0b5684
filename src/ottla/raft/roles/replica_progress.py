"""A leader's state of one replica's log."""

from ottla.raft.endpoint import Endpoints
from ottla.raft.identity import ReplicaKey

UNKNOWN = -1


class ReplicaProgress:
    """The log end of a replica, and the times of its fetches."""

    __slots__ = (
        "_leader_end_at_last_fetch",
        "end_offset",
        "endpoints",
        "key",
        "last_caught_up_ms",
        "last_fetch_ms",
    )

    def __init__(self, key: ReplicaKey, endpoints: Endpoints) -> None:
        self.key = key
        self.endpoints = endpoints
        self.end_offset: int | None = None
        """The end of the replica's durable log: its fetch offset, or the leader's own flushed end."""
        self.last_fetch_ms = UNKNOWN
        self.last_caught_up_ms = UNKNOWN
        self._leader_end_at_last_fetch = UNKNOWN

    def fetched(self, fetch_offset: int, leader_end_offset: int | None, now_ms: int) -> None:
        """Notes a fetch.

        A replica was caught up at its last fetch if it now asks for everything that the leader had then: it can
        never be level with a leader that appends all the time, but it follows closely.
        """
        if leader_end_offset is not None:
            if fetch_offset >= leader_end_offset:
                self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
            elif 0 < self._leader_end_at_last_fetch <= fetch_offset:
                self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
            self._leader_end_at_last_fetch = leader_end_offset
        self.last_fetch_ms = max(self.last_fetch_ms, now_ms)
        self.end_offset = fetch_offset

    @property
    def rank(self) -> tuple[int, ReplicaKey]:
        """Sorts those that have most first."""
        return (1 if self.end_offset is None else -self.end_offset, self.key)
