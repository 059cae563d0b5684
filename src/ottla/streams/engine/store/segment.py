"""Entries that age: what window and session stores share.

An entry has a key, a time and a suffix of fixed length. It lies in the segment of its time, in the order key,
time, suffix, as in Kafka Streams; a segment is dropped as a whole. An entry is seen while it is younger than the
youngest minus the retention. Stores whose results leave in the order of time keep that order as well
(`by_time`).

    segment of 8 bytes │ key │ time of 8 bytes │ suffix → value          0xFE │ time │ key │ suffix → nothing
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.streams.engine.store.state_map import StateMap

_LONG: Final = struct.Struct(">q")
_BY_TIME: Final = b"\xfe"
_OBSERVED: Final = b"\xff"
_SEGMENT_MS_MIN: Final = 60_000
_TIME_MAX: Final = (1 << 63) - 1


class Entry(NamedTuple):
    """An entry of a store that ages."""

    key: bytes
    time: int
    suffix: bytes
    value: bytes


class SegmentedMap:
    """Entries over a state map."""

    def __init__(self, state: StateMap, retention_ms: int, suffix_bytes: int, *, by_time: bool) -> None:
        self._state = state
        self._retention = retention_ms
        self._suffix_bytes = suffix_bytes
        self._by_time = by_time
        self._interval = max(retention_ms // 2, _SEGMENT_MS_MIN)
        self._dropped = 0
        stored = state.get(_OBSERVED)
        self._observed = -1 if stored is None else int(_LONG.unpack(stored)[0])

    def put(self, key: bytes, time: int, suffix: bytes, value: bytes | None) -> bool:
        """Sets or (with None) deletes an entry; False: it is too old and nothing was done."""
        self._observe(time)
        segment = time // self._interval
        if segment < self._live_segment():
            return False
        full = b"".join((_LONG.pack(segment), key, _LONG.pack(time), suffix))
        index = b"".join((_BY_TIME, _LONG.pack(time), key, suffix)) if self._by_time else b""
        if value is None:
            self._state.delete(full)
            if index:
                self._state.delete(index)
        else:
            self._state.put(full, value)
            if index:
                self._state.put(index, b"")
        return True

    def get(self, key: bytes, time: int, suffix: bytes) -> bytes | None:
        """One entry, if it is still seen."""
        if time < self._oldest():
            return None
        return self._state.get(b"".join((_LONG.pack(time // self._interval), key, _LONG.pack(time), suffix)))

    def fetch(self, key: bytes, time_from: int, time_to: int) -> Iterator[Entry]:
        """A key's entries by time, both bounds included.

        None is younger than the youngest: with that as the bound, keys that begin like this one are out of range.
        """
        low, high = max(time_from, self._oldest(), 0), min(time_to, self._observed)
        length = 8 + len(key) + 8 + self._suffix_bytes
        for segment in self._segments(low, high):
            start = b"".join((_LONG.pack(segment), key, _LONG.pack(low)))
            end = b"".join((_LONG.pack(segment), key, _LONG.pack(high), b"\xff" * (self._suffix_bytes + 1)))
            for full, value in self._state.scan(start, end):
                if len(full) == length:
                    yield self._entry(full, value)

    def fetch_all(self, time_from: int, time_to: int) -> Iterator[Entry]:
        """All keys' entries between two times, in the order of segments, then keys."""
        low, high = max(time_from, self._oldest(), 0), min(time_to, _TIME_MAX)
        for segment in self._segments(low, high):
            for full, value in self._state.scan(_LONG.pack(segment), _LONG.pack(segment + 1)):
                entry = self._entry(full, value)
                if low <= entry.time <= high:
                    yield entry

    def fetch_in_time_order(self, time_from: int, time_to: int) -> Iterator[Entry]:
        """All keys' entries between two times, in the order of time, then keys."""
        low, high = max(time_from, 0), min(time_to, _TIME_MAX - 1)
        start, end = _BY_TIME + _LONG.pack(low), _BY_TIME + _LONG.pack(high + 1)
        for index, _ in self._state.scan(start, end):
            time: int = _LONG.unpack_from(index, 1)[0]
            rest = index[9:]
            key, suffix = rest[: len(rest) - self._suffix_bytes], rest[len(rest) - self._suffix_bytes :]
            value = self._state.get(_LONG.pack(time // self._interval) + key + index[1:9] + suffix)
            if value is not None:
                yield Entry(key, time, suffix, value)

    def _entry(self, full: bytes, value: bytes) -> Entry:
        at = len(full) - self._suffix_bytes
        return Entry(full[8 : at - 8], _LONG.unpack_from(full, at - 8)[0], full[at:], value)

    def _segments(self, low: int, high: int) -> list[int]:
        """The segments between two times that hold anything at all."""
        if low > high:
            return []
        last = min(high, self._observed) // self._interval
        return list(range(max(low // self._interval, self._live_segment()), last + 1))

    def _observe(self, time: int) -> None:
        if time <= self._observed:
            return
        before, self._observed = self._live_segment(), time
        self._state.put(_OBSERVED, _LONG.pack(time))
        if not self._by_time and self._live_segment() > before:
            self.drop_expired()

    def drop_expired(self) -> None:
        """Drops segments that no fetch sees any more. Stores that are `by_time` wait until their results have left."""
        segment = self._live_segment()
        if segment == self._dropped:
            return
        self._dropped = segment
        for full, _ in self._state.scan(_LONG.pack(0), _LONG.pack(segment)):
            self._state.delete(full)
        if self._by_time:
            for index, _ in self._state.scan(_BY_TIME, _BY_TIME + _LONG.pack(segment * self._interval)):
                self._state.delete(index)

    def _oldest(self) -> int:
        return self._observed - self._retention + 1

    def _live_segment(self) -> int:
        return max(self._observed - self._retention, 0) // self._interval


def is_between(key: bytes, low: bytes | None, high: bytes | None) -> bool:
    """Whether low ≤ key ≤ high; None is no bound."""
    return (low is None or low <= key) and (high is None or key <= high)
