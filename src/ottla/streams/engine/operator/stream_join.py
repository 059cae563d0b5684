"""Stream–stream joins: each side looks for partners among the records of the other that came before.

Unmatched records of an outer side wait until stream time has passed the last moment at which a partner could
come; then they leave, oldest first, at their own time. Both sides share one stream time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.store.outer_join import LEFT, RIGHT
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.record import Headers
from ottla.streams.window import JoinWindows

_NEVER: Final = (1 << 63) - 1
Joiner = Callable[[Any, Any, Any], Any]
"""`(key, value of this side, value of the other side)`."""


class JoinWindow(Operator):
    """Keeps a side's records for the other side, and passes them on."""

    def __init__(self, store: StoreSpec) -> None:
        self._name = store.name

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        self._store = context.store(self._name)

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Records without key or value find no partner and are not kept. A self-join must not see its own record."""
        self.forward(key, value, timestamp, headers)
        if key is not None and value is not None:
            self._store.put(key, value, timestamp)


@dataclass
class TimeTracker:
    """The time that both sides of a join share: stream time, and the oldest record that waits."""

    stream_time: int = -1
    min_time: int = _NEVER
    users: int = 0


@dataclass
class JoinDefinition:
    """The definition that both sides of a join share."""

    windows: JoinWindows
    outer_store: StoreSpec | None
    trackers: dict[int, TimeTracker] = field(default_factory=dict)

    def tracker(self, context: Any) -> TimeTracker:
        """The tracker of a task."""
        shared: TimeTracker = context.shared(id(self), TimeTracker)
        return shared


class JoinSide(Operator):
    """One side of the join."""

    def __init__(
        self, definition: JoinDefinition, side: bytes, joiner: Joiner, *, other: StoreSpec, outer: bool
    ) -> None:
        self._definition = definition
        self._is_left = side == LEFT
        self._side = side
        self._other_side = RIGHT if side == LEFT else LEFT
        self._joiner = joiner
        self._other_name = other.name
        self._outer = outer
        windows = definition.windows
        before, after = windows.before_ms, windows.after_ms
        self._before, self._after = (before, after) if self._is_left else (after, before)

    def open(self, context: OperatorContext) -> None:
        """Finds the stores and the shared stream time."""
        self._context = context
        self._other = context.store(self._other_name)
        outer_store = self._definition.outer_store
        self._waiting = None if outer_store is None else context.store(outer_store.name)
        self._tracker = self._definition.tracker(context)
        first = None if self._waiting is None else next(self._waiting.all(), None)
        if first is not None:
            self._tracker.min_time = first.timestamp

    def times(self) -> tuple[int, ...]:
        """The shared stream time, and the shared time of the oldest record that waits."""
        return self._tracker.stream_time, self._tracker.min_time

    def set_times(self, times: tuple[int, ...]) -> None:
        self._tracker.stream_time, self._tracker.min_time = times

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Joins with all partners, oldest first."""
        tracker = self._tracker
        tracker.stream_time = max(tracker.stream_time, timestamp)
        if self._outer and key is None and value is not None:
            self.forward(key, self._joiner(key, value, None), timestamp, headers)
            return
        if key is None or value is None:
            self._context.drop()
            return
        if timestamp == tracker.stream_time and self._waiting is not None:
            self._emit_unmatched(headers)
        first, last = max(0, timestamp - self._before), max(0, timestamp + self._after)
        matched = False
        for other_timestamp, other_value in self._other.fetch(key, first, last):
            matched = True
            if self._waiting is not None:
                self._waiting.discard(key, other_timestamp, self._other_side)
            self.forward(key, self._joiner(key, value, other_value), max(timestamp, other_timestamp), headers)
        if self._outer and not matched:
            self._keep_unmatched(key, value, timestamp, last, headers)

    def _keep_unmatched(self, key: Any, value: Any, timestamp: int, last: int, headers: Headers) -> None:
        if self._waiting is None or last < self._tracker.stream_time:
            self.forward(key, self._joiner(key, value, None), timestamp, headers)
            return
        self._tracker.min_time = min(self._tracker.min_time, timestamp)
        self._waiting.add(key, timestamp, self._side, value)

    def _emit_unmatched(self, headers: Headers) -> None:
        """Lets go what no partner can come for any more. The look ends when each side has one that still waits."""
        tracker, grace = self._tracker, self._definition.windows.grace_ms
        if tracker.min_time + self._after + grace >= tracker.stream_time or self._waiting is None:
            return
        tracker.min_time = _NEVER
        open_sides: set[bool] = set()
        for unmatched in self._waiting.all():
            tracker.min_time = unmatched.timestamp
            if len(open_sides) == 2:
                break
            if unmatched.timestamp + self._look_ahead(unmatched.is_left) + grace >= tracker.stream_time:
                open_sides.add(unmatched.is_left)
                if len(open_sides) == 2 and len(unmatched.values) > 1:
                    # The next one is of the same time: the look ends with it.
                    break
                continue
            for value in unmatched.values:
                pair = (value, None) if unmatched.is_left is self._is_left else (None, value)
                self.forward(unmatched.key, self._joiner(unmatched.key, *pair), unmatched.timestamp, headers)
            self._waiting.remove(unmatched.place)

    def _look_ahead(self, is_left: bool) -> int:
        windows = self._definition.windows
        return windows.after_ms if is_left else windows.before_ms


class SelfJoin(Operator):
    """A stream joined with itself over one store: the same results in the same order as those of two sides."""

    def __init__(self, windows: JoinWindows, joiner: Joiner, store: StoreSpec) -> None:
        self._before, self._after = windows.before_ms, windows.after_ms
        self._retention = windows.size_ms + windows.grace_ms
        self._joiner = joiner
        self._name = store.name
        self._stream_time = -1

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        self._context = context
        self._store = context.store(self._name)

    def times(self) -> tuple[int, ...]:
        """Stream time."""
        return (self._stream_time,)

    def set_times(self, times: tuple[int, ...]) -> None:
        (self._stream_time,) = times

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Joins the record with those around it as the left one, then as the right one; with itself by time."""
        if key is None or value is None:
            self._context.drop()
            return
        self._stream_time = max(self._stream_time, timestamp)
        joins_itself = timestamp > self._stream_time - self._retention + 1
        for at, other in self._around(key, timestamp, self._before, self._after):
            self.forward(key, self._joiner(key, value, other), max(timestamp, at), headers)
        for at, other in self._around(key, timestamp, self._after, self._before):
            if joins_itself and at > timestamp:
                joins_itself = False
                self.forward(key, self._joiner(key, value, value), timestamp, headers)
            self.forward(key, self._joiner(key, other, value), max(timestamp, at), headers)
        if joins_itself:
            self.forward(key, self._joiner(key, value, value), timestamp, headers)

    def _around(self, key: Any, timestamp: int, before: int, after: int) -> Iterator[tuple[int, Any]]:
        found: Iterator[tuple[int, Any]] = self._store.fetch(key, max(0, timestamp - before), max(0, timestamp + after))
        return found
