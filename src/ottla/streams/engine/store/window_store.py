"""Window stores: values by key and the start of a window, plain or with a timestamp.

The changelog's key is key ++ start (8 bytes) ++ sequence number (4 bytes, which tells duplicates apart in the stores of
joins), as in Kafka Streams.
"""

import struct
from collections.abc import Iterator
from typing import Any, Final, Generic, cast

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.segment import Entry, SegmentedMap, is_between
from ottla.streams.engine.store.spec import LoggedChange, StoreContext, StoreSpec
from ottla.streams.record import K, V, Window, Windowed

_SEQUENCE: Final = struct.Struct(">I")
_TIME: Final = struct.Struct(">q")
_NO_SEQUENCE: Final = _SEQUENCE.pack(0)
_LAST_SEQUENCE: Final = b"\xff\xff"
"""Where the last number given to a duplicate lies: behind all entries."""
_LONG_MAX: Final = (1 << 63) - 1


class _WindowBytes:
    """Window entries in bytes, with their changelog."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self._map = context.state_map(spec.name)
        self.entries = SegmentedMap(self._map, spec.retention_ms, _SEQUENCE.size, by_time=spec.by_time)
        self._name = spec.name
        self._context = context
        self._logs = spec.logging
        self._retains_duplicates = spec.retain_duplicates
        last = self._map.get(_LAST_SEQUENCE)
        self._sequence = 0 if last is None else int(_SEQUENCE.unpack(last)[0])

    def put(self, key: bytes, start: int, value: bytes | None, logged: tuple[bytes | None, int]) -> None:
        """Stores, unless the window is too old; duplicates get a number of their own and are not deleted."""
        if not self._retains_duplicates:
            suffix = _NO_SEQUENCE
        elif value is None:
            return
        else:
            suffix = self._number(self._sequence + 1 & 0x7FFFFFFF)
        if self.entries.put(key, start, suffix, value) and self._logs:
            self._context.log_change(self._name, LoggedChange(key + _TIME.pack(start) + suffix, *logged))

    def restore(self, key: bytes, value: bytes | None) -> None:
        """Takes a record of the changelog."""
        start: int = _TIME.unpack_from(key, len(key) - 12)[0]
        self.entries.put(key[:-12], start, key[-4:], value)
        if self._retains_duplicates:
            self._number(max(self._sequence, _SEQUENCE.unpack_from(key, len(key) - 4)[0]))

    def last_suffix(self) -> bytes:
        """The number of the latest entry; always 0 where there are no duplicates."""
        return _SEQUENCE.pack(self._sequence)

    def _number(self, sequence: int) -> bytes:
        """Keeps the number, so that a store that is opened again goes on from it."""
        self._sequence = sequence
        suffix = _SEQUENCE.pack(sequence)
        self._map.put(_LAST_SEQUENCE, suffix)
        return suffix


class WindowStore(Generic[K, V]):
    """Values by key and the start of their window."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._size = spec.window_size_ms
        self._context = context
        self._bytes = _WindowBytes(spec, context)
        self._coder = Coder(spec, context)

    def put(self, key: K, value: V | None, window_start: int) -> None:
        """Sets the value of a window; None deletes it. A window that is older than the retention is ignored."""
        raw = self._coder.value_bytes(value)
        self._bytes.put(self._coder.key_bytes(key), window_start, raw, (raw, self._context.now()))

    def fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """Start and value of a key's windows that start between two times, both included."""
        for entry in self._bytes.entries.fetch(self._coder.key_bytes(key), time_from, time_to):
            yield entry.time, self._coder.value(entry.value)

    def fetch_window(self, key: K, window_start: int) -> V | None:
        """The value of one window; among duplicates, that of the latest put, if it was this window's."""
        data = self._bytes.entries.get(self._coder.key_bytes(key), window_start, self._bytes.last_suffix())
        return None if data is None else cast("V", self._coder.value(data))

    def fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[Windowed[K], V]]:
        """All keys' windows that start between two times, both included."""
        return (self._pair(entry) for entry in self._bytes.entries.fetch_all(time_from, time_to))

    def all(self) -> Iterator[tuple[Windowed[K], V]]:
        """All windows."""
        return self.fetch_all(0, _LONG_MAX)

    def backward_fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """As `fetch`, last window first."""
        return reversed(list(self.fetch(key, time_from, time_to)))

    def fetch_range(
        self, key_from: K | None, key_to: K | None, time_from: int, time_to: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """The windows of the keys between two, both included, that start between two times; None is no bound."""
        low, high = (None if key is None else self._coder.key_bytes(key) for key in (key_from, key_to))
        for entry in self._bytes.entries.fetch_all(time_from, time_to):
            if is_between(entry.key, low, high):
                yield self._pair(entry)

    def backward_fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[Windowed[K], V]]:
        """As `fetch_all`, last window first."""
        return reversed(list(self.fetch_all(time_from, time_to)))

    def backward_fetch_range(
        self, key_from: K | None, key_to: K | None, time_from: int, time_to: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """As `fetch_range`, last window first."""
        return reversed(list(self.fetch_range(key_from, key_to, time_from, time_to)))

    def backward_all(self) -> Iterator[tuple[Windowed[K], V]]:
        """All windows, the last one first."""
        return reversed(list(self.all()))

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        self._bytes.restore(change.key, change.value)

    def _pair(self, entry: Entry) -> tuple[Windowed[K], V]:
        window = Window(entry.time, min(entry.time + self._size, _LONG_MAX))
        return Windowed(self._coder.key(entry.key), window), self._coder.value(entry.value)


class TimestampedWindowStore(Generic[K, V]):
    """The store of a windowed table: values with their times, by key and the start of their window."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._size = spec.window_size_ms
        self._bytes = _WindowBytes(spec, context)
        self._coder = Coder(spec, context)
        self._context = context

    def put(self, key: K, value: V | None, timestamp: int, window_start: int) -> None:
        """Sets value and time of a window; None deletes it."""
        raw = self._coder.value_bytes(value)
        stored = None if raw is None else _TIME.pack(timestamp) + raw
        logged_at = self._context.now() if raw is None else timestamp
        self._bytes.put(self._coder.key_bytes(key), window_start, stored, (raw, logged_at))

    def get(self, key: K, window_start: int) -> tuple[V, int] | None:
        """Value and time of one window."""
        data = self._bytes.entries.get(self._coder.key_bytes(key), window_start, _NO_SEQUENCE)
        return None if data is None else self._decoded(data)

    def fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, tuple[V, int]]]:
        """Start, value and time of a key's windows that start between two times, both included."""
        for entry in self._bytes.entries.fetch(self._coder.key_bytes(key), time_from, time_to):
            yield entry.time, self._decoded(entry.value)

    def fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[Windowed[K], tuple[V, int]]]:
        """All keys' windows that start between two times, both included."""
        return (self._pair(entry) for entry in self._bytes.entries.fetch_all(time_from, time_to))

    def fetch_range(
        self, key_from: K | None, key_to: K | None, time_from: int, time_to: int
    ) -> Iterator[tuple[Windowed[K], tuple[V, int]]]:
        """The windows of the keys between two, both included, that start between two times; None is no bound."""
        low, high = (None if key is None else self._coder.key_bytes(key) for key in (key_from, key_to))
        for entry in self._bytes.entries.fetch_all(time_from, time_to):
            if is_between(entry.key, low, high):
                yield self._pair(entry)

    def fetch_closed(self, time_from: int, time_to: int) -> list[tuple[Windowed[K], tuple[V, int]]]:
        """As `fetch_all`, in the order of time and beyond retention: final results survive a jump of stream time."""
        return [self._pair(entry) for entry in self._bytes.entries.fetch_in_time_order(time_from, time_to)]

    def drop_expired(self) -> None:
        """Forgets windows whose final results have left."""
        self._bytes.entries.drop_expired()

    def all(self) -> Iterator[tuple[Windowed[K], tuple[V, int]]]:
        """All windows."""
        return self.fetch_all(0, _LONG_MAX)

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        value = None if change.value is None else _TIME.pack(change.timestamp) + change.value
        self._bytes.restore(change.key, value)

    def _decoded(self, data: bytes) -> tuple[V, int]:
        return self._coder.value(data[8:]), _TIME.unpack_from(data)[0]

    def _pair(self, entry: Entry) -> tuple[Windowed[K], tuple[V, int]]:
        window = Window(entry.time, min(entry.time + self._size, _LONG_MAX))
        return Windowed(self._coder.key(entry.key), window), self._decoded(entry.value)


class WindowValueView(Generic[K, V]):
    """A timestamped window store as readers want it: the values alone."""

    def __init__(self, store: TimestampedWindowStore[K, V]) -> None:
        self._store = store

    def fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """Start and value of a key's windows that start between two times, both included."""
        return ((start, value) for start, (value, _) in self._store.fetch(key, time_from, time_to))

    def fetch_window(self, key: K, window_start: int) -> V | None:
        """The value of one window."""
        found = self._store.get(key, window_start)
        return None if found is None else found[0]

    def fetch_with_timestamp(self, key: K, window_start: int) -> tuple[V, int] | None:
        """The value of one window and its time."""
        return self._store.get(key, window_start)

    def put(self, key: K, value: V | None, timestamp: int, window_start: int) -> None:
        """Sets value and time of a window; None deletes it."""
        self._store.put(key, value, timestamp, window_start)

    def fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[Windowed[K], V]]:
        """All keys' windows that start between two times, both included."""
        return ((key, value) for key, (value, _) in self._store.fetch_all(time_from, time_to))

    def all(self) -> Iterator[tuple[Windowed[K], V]]:
        """All windows."""
        return ((key, value) for key, (value, _) in self._store.all())

    def fetch_range(
        self, key_from: K | None, key_to: K | None, time_from: int, time_to: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """The windows of the keys between two, both included, that start between two times; None is no bound."""
        found = self._store.fetch_range(key_from, key_to, time_from, time_to)
        return ((key, value) for key, (value, _) in found)

    def backward_fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """As `fetch`, last window first."""
        return reversed(list(self.fetch(key, time_from, time_to)))

    def backward_fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[Windowed[K], V]]:
        """As `fetch_all`, last window first."""
        return reversed(list(self.fetch_all(time_from, time_to)))

    def backward_fetch_range(
        self, key_from: K | None, key_to: K | None, time_from: int, time_to: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """As `fetch_range`, last window first."""
        return reversed(list(self.fetch_range(key_from, key_to, time_from, time_to)))

    def backward_all(self) -> Iterator[tuple[Windowed[K], V]]:
        """All windows, the last one first."""
        return reversed(list(self.all()))


AnyWindowView = WindowValueView[Any, Any]
