"""Aggregates in sessions: a record joins the sessions within the gap, which become one.

Extending a session sends a tombstone for each one that it replaces, then the new one. Late is judged after
merging: a late record still counts if it touches a live session.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ottla.streams.engine.operator.operator import Operator, OperatorContext
from ottla.streams.engine.operator.table import Getter, TableDefinition, View
from ottla.streams.record import Change, Headers, Window, Windowed
from ottla.streams.window import SessionWindows


class SessionGetter:
    """Looks into a table of sessions."""

    versioned = False

    def __init__(self, store: Any) -> None:
        self._store = store

    def get(self, key: Any) -> tuple[Any, int] | None:
        """A session's value; its time is its end."""
        value = self._store.fetch_session(key.key, key.window.start, key.window.end)
        return None if value is None else (value, key.window.end)

    def get_as_of(self, key: Any, timestamp: int) -> tuple[Any, int] | None:
        """Sessions have no versions."""
        return self.get(key)


@dataclass
class SessionAggregateDefinition(TableDefinition):
    """An aggregate per key and session."""

    windows: SessionWindows | None = None
    initializer: Callable[[], Any] | None = None
    adder: Callable[[Any, Any, Any], Any] = max
    merger: Callable[[Any, Any, Any], Any] = max
    emits_on_close: bool = False

    @property
    def closing_ms(self) -> int:
        """The time from the end of a session until it closes; until then another record could join it."""
        return 0 if self.windows is None else self.windows.grace_ms + self.windows.gap_ms

    def view(self) -> View:
        """The sessions' store."""
        assert self.store is not None
        name = self.store.name

        def open_getter(context: OperatorContext) -> Getter:
            return SessionGetter(context.store(name))

        return View((name,), open_getter)

    def make(self) -> Operator:
        """The operator of a task."""
        return SessionAggregate(self)


class SessionAggregate(Operator):
    """Merges the sessions around a record, and adds the record."""

    def __init__(self, definition: SessionAggregateDefinition) -> None:
        assert definition.windows is not None
        self._definition = definition
        self._windows = definition.windows
        self._stream_time = -1
        self._closed_until = -1

    def open(self, context: OperatorContext) -> None:
        """Finds the store."""
        assert self._definition.store is not None
        self._context = context
        self._store = context.store(self._definition.store.name)
        self._send_old = self._definition.send_old

    def times(self) -> tuple[int, ...]:
        """Stream time, and the time up to which final results were emitted."""
        return self._stream_time, self._closed_until

    def set_times(self, times: tuple[int, ...]) -> None:
        self._stream_time, self._closed_until = times

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Merges all sessions within the gap."""
        if key is None:
            self._context.drop()
            return
        gap, definition = self._windows.gap_ms, self._definition
        self._stream_time = max(self._stream_time, timestamp)
        close_time = self._stream_time - self._windows.grace_ms - gap
        merged = list(self._store.find_sessions(key, timestamp - gap, timestamp + gap))
        start, end = timestamp, timestamp
        aggregate = None if definition.initializer is None else definition.initializer()
        for session, session_value in merged:
            aggregate = definition.merger(key, aggregate, session_value)
            start, end = min(start, session.window.start), max(end, session.window.end)
        if end < close_time:
            self._context.drop()
        else:
            if (start, end) != (timestamp, timestamp):
                for session, session_value in merged:
                    self._store.remove(session)
                    self._update(session, session_value, None)
            aggregate = definition.adder(key, value, aggregate)
            session = Windowed(key, Window(start, end))
            self._store.put(session, aggregate)
            self._update(session, None, aggregate)
        self._emit_closed(close_time, headers)

    def _update(self, session: Windowed[Any], old: Any, new: Any) -> None:
        if not self._definition.emits_on_close:
            self.forward(session, Change(new, old if self._send_old else None), session.window.end, ())

    def _emit_closed(self, close_time: int, headers: Headers) -> None:
        if not self._definition.emits_on_close or close_time <= self._closed_until:
            return
        first = max(0, self._closed_until)
        self._closed_until = close_time
        if close_time > first:
            for session, value in self._store.find_closed(first, close_time - 1):
                self.forward(session, Change(value), session.window.end, headers)
        self._store.drop_expired()
