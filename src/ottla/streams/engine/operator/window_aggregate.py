"""Aggregates in tumbling, hopping and unlimited windows.

Stream time moves to a record's timestamp before the record is judged, window by window: a hopping record may be
too late for its first window and in time for the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.operator.table import Getter, TableDefinition, View
from ottla.streams.record import Change, Headers, Windowed
from ottla.streams.window import SlidingWindows, TimeWindows, UnlimitedWindows


class WindowGetter:
    """Looks into a windowed table."""

    versioned = False

    def __init__(self, store: Any) -> None:
        self._store = store

    def get(self, key: Any) -> tuple[Any, int] | None:
        """Value and time of a window."""
        found: tuple[Any, int] | None = self._store.get(key.key, key.window.start)
        return found

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """Windows have no versions."""
        return self.get(key)


@dataclass
class WindowAggregateDefinition(TableDefinition):
    """An aggregate per key and window."""

    windows: TimeWindows | UnlimitedWindows | SlidingWindows | None = None
    initializer: Callable[[], Any] | None = None
    adder: Callable[[Any, Any, Any], Any] = max
    emits_on_close: bool = False

    @property
    def closing_ms(self) -> int:
        """The time from the end of a window until it closes."""
        return 0 if self.windows is None else self.windows.grace_ms

    def view(self) -> View:
        """The windows' store."""
        assert self.store is not None
        name = self.store.name

        def open_getter(context: OperatorContext) -> Getter:
            return WindowGetter(context.store(name))

        return View((name,), open_getter)

    def make(self) -> Operator:
        """The operator of a task."""
        return WindowAggregate(self)


class WindowOperator(Operator):
    """The base of time windows and sliding windows: stream time, updates, and final results."""

    def __init__(self, definition: WindowAggregateDefinition) -> None:
        self.definition = definition
        self.initializer = definition.initializer or (lambda: None)
        self.adder = definition.adder
        self._emits_on_close = definition.emits_on_close
        self.stream_time = -1
        self._closed_until = -1

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        assert self.definition.store is not None
        self.context = context
        self.store = context.store(self.definition.store.name)
        self._send_old = self.definition.send_old

    def times(self) -> tuple[int, ...]:
        """Stream time, and the time up to which final results were emitted."""
        return self.stream_time, self._closed_until

    def set_times(self, times: tuple[int, ...]) -> None:
        self.stream_time, self._closed_until = times

    def update(self, key: Windowed[Any], change: tuple[Any, Any], timestamp: int, headers: Headers) -> None:
        """Forwards an update, unless only final results are emitted."""
        if not self._emits_on_close:
            new, old = change
            self.forward(key, Change(new, old if self._send_old else None), timestamp, headers)

    def emit_closed(self, first_start: int, last_start: int, headers: Headers) -> None:
        """Forwards the windows that start between two times and have not left yet, by time, then key."""
        if last_start >= first_start:
            for windowed, (value, at) in self.store.fetch_closed(first_start, last_start):
                self.forward(windowed, Change(value), at, headers)
        self.store.drop_expired()

    def closes(self, close_time: int) -> int | None:
        """The close time that was reached before, if this one is later and final results are wanted."""
        if not self._emits_on_close or close_time <= self._closed_until:
            return None
        before, self._closed_until = self._closed_until, close_time
        return before


class WindowAggregate(WindowOperator):
    """Adds each record to the windows it falls into. A null value is added like any other."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Updates window by window, oldest first; then closed windows leave."""
        if key is None:
            self.context.drop()
            return
        windows = self.definition.windows
        assert isinstance(windows, (TimeWindows, UnlimitedWindows))
        if timestamp > self.stream_time:
            self.stream_time = timestamp
        close_time = self.stream_time - windows.grace_ms
        for window in windows.windows_for(timestamp):
            if window.end <= close_time:
                self.context.drop()
                continue
            found = self.store.get(key, window.start)
            old, at = (self.initializer(), timestamp) if found is None else found
            new, at = self.adder(key, value, old), max(timestamp, at)
            self.store.put(key, new, at, window.start)
            self.update(Windowed(key, window), (new, old), at, headers)
        before = self.closes(close_time)
        if before is not None:
            first = 0 if before < 0 else max(0, before - windows.size_ms) + (before >= windows.size_ms)
            self.emit_closed(first, close_time - windows.size_ms, headers)
