"""Aggregates in sliding windows: one window ends at each record, one starts right after each record that others
follow.

A window's stored time is that of its latest record, which tells whether a window to its right holds anything.
Records that come out of order change several windows; the order of their updates is Kafka Streams': from the
youngest window to the oldest.
"""

from typing import Any, Final, NamedTuple

from ottla.streams.engine.operator.window_aggregate import WindowOperator
from ottla.streams.record import Headers, Window, Windowed
from ottla.streams.window import SlidingWindows


class _Input(NamedTuple):
    """The record that is being added."""

    key: Any
    value: Any
    timestamp: int
    headers: Headers
    close_time: int


class _Neighbours:
    """The facts about the windows around a record that decide which windows to create."""

    __slots__ = ("has_left", "has_right", "left", "previous", "right", "starts")

    def __init__(self) -> None:
        self.starts: set[int] = set()
        self.left: tuple[Any, int] | None = None
        self.right: tuple[Any, int] | None = None
        self.has_left = False
        self.has_right = False
        self.previous: int | None = None


_DONE: Final = True


class SlidingAggregate(WindowOperator):
    """Adds each record to the windows it falls into, and makes the ones that it begins or ends."""

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Drops records without key or value, and those for which all windows have closed."""
        if key is None or value is None:
            self.context.drop()
            return
        windows = self.definition.windows
        assert isinstance(windows, SlidingWindows)
        self._difference = windows.time_difference_ms
        if timestamp > self.stream_time:
            self.stream_time = timestamp
        close_time = self.stream_time - windows.grace_ms
        if timestamp + self._difference < close_time:
            self.context.drop()
            return
        record = _Input(key, value, timestamp, headers, close_time)
        if timestamp < self._difference:
            self._add_early(record)
            return
        self._add(record)
        before = self.closes(close_time)
        if before is not None:
            first = 0 if before < 0 else max(0, before - self._difference)
            self.emit_closed(first, close_time - self._difference - 1, headers)

    def _add(self, record: _Input) -> None:
        around = _Neighbours()
        stored = self.store.fetch(record.key, record.timestamp - 2 * self._difference, record.timestamp + 1)
        for start, found in reversed(list(stored)):
            if self._visit(record, around, start, found):
                break
        else:
            self._create(record, around)
            return
        if around.previous is not None or not around.has_left:
            self._create(record, around)

    def _visit(self, record: _Input, around: _Neighbours, start: int, found: tuple[Any, int]) -> bool:
        """Updates a window that holds the record; true when no older window matters."""
        around.starts.add(start)
        end, latest = start + self._difference, found[1]
        if start == record.timestamp + 1:
            around.has_right = True
        elif end > record.timestamp:
            if around.right is None:
                around.right = found
            self._update(record, start, found)
        elif end == record.timestamp:
            around.has_left = True
            self._update(record, start, found)
            if latest >= record.timestamp:
                return _DONE
            around.previous = latest
        else:
            around.left, around.previous = found, latest
            return _DONE
        return False

    def _create(self, record: _Input, around: _Neighbours) -> None:
        timestamp, previous = record.timestamp, around.previous
        if previous is not None and previous + 1 not in around.starts and previous + 1 + self._difference >= timestamp:
            self._update(record, previous + 1, None)
        if not around.has_left:
            reaches = previous is not None and timestamp - self._difference <= previous
            value = (around.left[0], timestamp) if reaches and around.left is not None else None
            self._update(record, timestamp - self._difference, value)
        if not around.has_right and around.right is not None and around.right[1] > timestamp:
            self._create_right(record, around.right)

    def _add_early(self, record: _Input) -> None:
        """Near time 0 the windows that would start before it are one: [0, difference]."""
        around = _Neighbours()
        combined: tuple[Any, int] | None = None
        for start, found in self.store.fetch(record.key, 0, record.timestamp + 1):
            around.starts.add(start)
            if start == 0:
                combined = found
                if found[1] < record.timestamp:
                    around.previous = found[1]
            elif start <= record.timestamp:
                around.right = found
                self._update(record, start, found)
            else:
                around.has_right = True
        if around.right is None and combined is not None and combined[1] > record.timestamp:
            around.right = combined
        if not around.has_right and around.right is not None and around.right[1] > record.timestamp:
            self._create_right(record, around.right)
        if around.previous is not None and around.previous + 1 not in around.starts:
            self._update(record, around.previous + 1, None)
        self._update(record, 0, combined)

    def _create_right(self, record: _Input, aggregate: tuple[Any, int]) -> None:
        start = record.timestamp + 1
        self.store.put(record.key, aggregate[0], aggregate[1], start)
        window = Window(start, start + self._difference)
        self.update(Windowed(record.key, window), (aggregate[0], None), aggregate[1], record.headers)

    def _update(self, record: _Input, start: int, found: tuple[Any, int] | None) -> None:
        window = Window(start, start + self._difference)
        if window.end < record.close_time:
            self.context.drop()
            return
        old, at = (self.initializer(), record.timestamp) if found is None else found
        new, at = self.adder(record.key, record.value, old), max(record.timestamp, at)
        self.store.put(record.key, new, at, start)
        self.update(Windowed(record.key, window), (new, old), at, record.headers)
