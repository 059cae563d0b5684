"""A leader's state of one follower: its offsets, and when it was last caught up.

A follower is caught up at a moment if it then had all that the leader had. It need not ever fetch from the very log
end: with a produce every millisecond it is always a few records behind. So the log end at the time of its previous
fetch counts: fetches at 100 (log end 110), then 110 (log end 120), it had caught up when it fetched at 100.
"""

from typing import Final, NamedTuple

UNKNOWN_OFFSET: Final = -1


class FollowerFetch(NamedTuple):
    """A follower's fetch, as far as its progress shows in it."""

    broker_id: int
    broker_epoch: int
    """-1 from brokers that do not say (before Fetch v15)."""
    fetch_offset: int
    log_start_offset: int


class FollowerProgress:
    """One follower, as seen from the leader."""

    __slots__ = (
        "_last_fetch_leader_end_offset",
        "_last_fetch_ms",
        "broker_epoch",
        "broker_id",
        "last_caught_up_ms",
        "log_end_offset",
        "log_start_offset",
    )

    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        self.broker_epoch: int | None = None
        """From its last fetch; None before it fetched from this leader."""
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.last_caught_up_ms = 0
        self._last_fetch_leader_end_offset = UNKNOWN_OFFSET
        self._last_fetch_ms = 0

    def __repr__(self) -> str:
        return f"FollowerProgress({self.broker_id}, log end {self.log_end_offset}, epoch {self.broker_epoch})"

    def fetched(self, fetch: FollowerFetch, leader_end_offset: int, now_ms: int) -> None:
        """It asked for records from an offset on, so it has everything before."""
        if fetch.fetch_offset >= leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif fetch.fetch_offset >= self._last_fetch_leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self._last_fetch_ms)
        self.log_end_offset = fetch.fetch_offset
        self.log_start_offset = fetch.log_start_offset
        self.broker_epoch = fetch.broker_epoch
        self._last_fetch_leader_end_offset = max(leader_end_offset, self._last_fetch_leader_end_offset)
        self._last_fetch_ms = now_ms

    def forget(self, now_ms: int, *, in_isr: bool) -> None:
        """Another broker led until now: nothing is known but whether it is in the ISR.

        One that is gets the whole lag time to show itself. One that is not must not hold back the high watermark.
        """
        self.log_end_offset = self.log_start_offset = UNKNOWN_OFFSET
        self._last_fetch_leader_end_offset = UNKNOWN_OFFSET
        self._last_fetch_ms = 0
        self.last_caught_up_ms = now_ms if in_isr else 0
        self.broker_epoch = None

    def begin_epoch(self, leader_end_offset: int, now_ms: int, *, in_isr: bool) -> None:
        """Begins an epoch of the same leader; the follower's known offsets stay valid."""
        self._last_fetch_leader_end_offset = leader_end_offset
        self._last_fetch_ms = now_ms if in_isr else 0
        self.last_caught_up_ms = now_ms if in_isr else 0

    def left_isr(self) -> None:
        """The controller took it out of the ISR, as when its disk failed: it counts again when it fetches again."""
        self.last_caught_up_ms = self._last_fetch_ms = 0

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_time_max_ms: int) -> bool:
        """Whether it has all, or had not longer ago than the lag time."""
        return self.log_end_offset == leader_end_offset or now_ms - self.last_caught_up_ms <= lag_time_max_ms
