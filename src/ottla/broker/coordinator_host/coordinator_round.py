"""Flushes the coordinators' shards at the end of a round of requests, and runs their timers on one timer.

Operations of one round share one append to each shard. After operations the timer is set anew, at most every few
milliseconds however busy the broker is; an idle broker wakes up only when a timer is due.
"""

from collections.abc import Callable
from typing import Final, Protocol

from ottla.base.clock import Clock
from ottla.replication.ports import EventLoop, TimerHandle

_LOOK_INTERVAL_S: Final = 0.01
"""How often a busy broker looks when the next timer is due, and how late one may be that was just set."""
_SLEEP_S_MAX: Final = 3_600.0


class Driven(Protocol):
    """A coordinator's shards, as the driver sees them."""

    def flush(self, now_ms: int) -> None:
        """Appends what operations decided."""
        ...

    def poll(self, now_ms: int) -> None:
        """Runs what is due."""
        ...

    @property
    def next_ms(self) -> int | None:
        """The next time to poll."""
        ...


class CoordinatorRounds:
    """Drives the shards of all coordinators. Loop thread only."""

    def __init__(
        self,
        loop: EventLoop,
        clock: Clock,
        at_round_end: Callable[[Callable[[], None]], None],
    ) -> None:
        """`clock` must not run backwards: deadlines are in its `now_ms`."""
        self._loop: Final = loop
        self._clock: Final = clock
        self._at_round_end: Final = at_round_end
        self._driven: tuple[Driven, ...] = ()
        self._timer: TimerHandle | None = None
        self._looked = 0.0
        self._is_flush_due = False
        self._round_ms = 0
        self._is_look_due = False
        self._is_closed = False

    def drive(self, *driven: Driven) -> None:
        """Takes on the coordinators, once, before the first operation."""
        self._driven = driven

    def close(self) -> None:
        """Stops flushes and timers."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def wants_flush(self) -> None:
        """A shard has records to append: at the end of the round."""
        if not self._is_flush_due:
            self._is_flush_due = True
            self._round_ms = self._clock.now_ms()
            self._at_round_end(self._flush)

    @property
    def round_ms(self) -> int:
        """The time, looked up once for all operations of a round whose records share an append."""
        return self._round_ms if self._is_flush_due else self._clock.now_ms()

    def touched(self) -> None:
        """An operation ran: it may have set a timer."""
        if not self._is_look_due:
            self._is_look_due = True
            since = self._loop.time() - self._looked
            if since >= _LOOK_INTERVAL_S:
                self._at_round_end(self._look)
            else:
                self._loop.call_at(self._looked + _LOOK_INTERVAL_S, self._look)

    def _flush(self) -> None:
        self._is_flush_due = False
        if not self._is_closed:
            now_ms = self._clock.now_ms()
            for driven in self._driven:
                driven.flush(now_ms)
            self.touched()

    def _look(self) -> None:
        """Sets the timer for what is due next."""
        self._is_look_due = False
        self._looked = self._loop.time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_closed:
            return
        next_ms = min((due for driven in self._driven if (due := driven.next_ms) is not None), default=None)
        if next_ms is not None:
            delay_s = min(max(next_ms - self._clock.now_ms(), 0) / 1000, _SLEEP_S_MAX)
            self._timer = self._loop.call_at(self._loop.time() + delay_s, self._poll)

    def _poll(self) -> None:
        self._timer = None
        now_ms = self._clock.now_ms()
        for driven in self._driven:
            driven.poll(now_ms)
        self.touched()
