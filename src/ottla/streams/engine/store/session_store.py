"""Session stores: values by key, end and start of a session. The changelog's key is key ++ end ++ start."""

import struct
from collections.abc import Iterator
from typing import Final, Generic, cast

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.segment import Entry, SegmentedMap, is_between
from ottla.streams.engine.store.spec import LoggedChange, StoreContext, StoreSpec
from ottla.streams.record import K, V, Window, Windowed

_TIME: Final = struct.Struct(">q")
_LONG_MAX: Final = (1 << 63) - 1


class SessionStore(Generic[K, V]):
    """The sessions of each key."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._entries = SegmentedMap(context.state_map(spec.name), spec.retention_ms, _TIME.size, by_time=spec.by_time)
        self._coder = Coder(spec, context)
        self._logs = spec.logging

    def find_sessions(self, key: K, earliest_end: int, latest_start: int) -> Iterator[tuple[Windowed[K], V]]:
        """The key's sessions that end at or after one time and start at or before another."""
        for entry in self._entries.fetch(self._coder.key_bytes(key), earliest_end, _LONG_MAX):
            pair = self._pair(entry)
            if pair[0].window.start <= latest_start:
                yield pair

    def backward_find_sessions(self, key: K, earliest_end: int, latest_start: int) -> Iterator[tuple[Windowed[K], V]]:
        """As `find_sessions`, the last one first."""
        return reversed(list(self.find_sessions(key, earliest_end, latest_start)))

    def fetch(self, key: K) -> Iterator[tuple[Windowed[K], V]]:
        """All sessions of a key."""
        return self.find_sessions(key, 0, _LONG_MAX)

    def backward_fetch(self, key: K) -> Iterator[tuple[Windowed[K], V]]:
        """All sessions of a key, the last one first."""
        return reversed(list(self.fetch(key)))

    def fetch_range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[Windowed[K], V]]:
        """All sessions of the keys between two, both included; None is no bound."""
        low, high = (None if key is None else self._coder.key_bytes(key) for key in (key_from, key_to))
        for entry in self._entries.fetch_all(0, _LONG_MAX):
            if is_between(entry.key, low, high):
                yield self._pair(entry)

    def fetch_session(self, key: K, start: int, end: int) -> V | None:
        """The value of one session."""
        data = self._entries.get(self._coder.key_bytes(key), end, _TIME.pack(start))
        return None if data is None else cast("V", self._coder.value(data))

    def find_closed(self, earliest_end: int, latest_end: int) -> list[tuple[Windowed[K], V]]:
        """All keys' sessions that end between two times, by end, start and key, however old."""
        found = self._entries.fetch_in_time_order(earliest_end, latest_end)
        ordered = sorted(found, key=lambda entry: (entry.time, entry.suffix, entry.key))
        return [self._pair(entry) for entry in ordered]

    def drop_expired(self) -> None:
        """Forgets sessions whose final results have left."""
        self._entries.drop_expired()

    def put(self, key: Windowed[K], value: V | None) -> None:
        """Sets the value of a session; None removes it."""
        raw_key, raw = self._coder.key_bytes(key.key), self._coder.value_bytes(value)
        end, start = key.window.end, _TIME.pack(key.window.start)
        if self._entries.put(raw_key, end, start, raw) and self._logs:
            logged = LoggedChange(raw_key + _TIME.pack(end) + start, raw, self._context.now())
            self._context.log_change(self.name, logged)

    def remove(self, key: Windowed[K]) -> None:
        """Removes a session."""
        self.put(key, None)

    def all(self) -> Iterator[tuple[Windowed[K], V]]:
        """All sessions."""
        return (self._pair(entry) for entry in self._entries.fetch_all(0, _LONG_MAX))

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        end: int = _TIME.unpack_from(change.key, len(change.key) - 16)[0]
        self._entries.put(change.key[:-16], end, change.key[-8:], change.value)

    def _pair(self, entry: Entry) -> tuple[Windowed[K], V]:
        window = Window(_TIME.unpack(entry.suffix)[0], entry.time)
        return Windowed(self._coder.key(entry.key), window), self._coder.value(entry.value)
