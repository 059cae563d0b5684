"""Records that wait for a time: what `suppress` holds back, and the stream side of a join with a grace period.

An entry lies at time ++ key, so that the oldest is first; a second map of the same bytes says where a key waits, and
one entry counts, so that a store opens at once however much waits in it. Each entry has the size that Kafka Streams
takes it for, so that a buffer of so many bytes is full with the same record.
Kafka's own format of these changelogs is private to its version; this one is ours.
"""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.spec import LoggedChange, StoreContext, StoreSpec
from ottla.streams.record import Change, Headers

_TIME: Final = struct.Struct(">q")
_HEAD: Final = struct.Struct(">qBi")
_LENGTH: Final = struct.Struct(">i")
_ENTRY: Final = b"\x00"
_PLACE: Final = b"\x01"
_COUNTS: Final = b"\x02"
_COUNT: Final = struct.Struct(">qqq")
_FIXED_SIZE: Final = 4 * 8 - 4
"""The entry's time, and the timestamp, offset and partition of its record."""


class Waiting(NamedTuple):
    """A record that waits, with the time that its place in the queue stands for, and the topic it came from."""

    time: int
    key: Any
    change: Change
    timestamp: int
    headers: Headers
    topic: str = ""


class TimeOrderedBuffer:
    """A queue by time, with one entry per key, or with all of them where `retain_duplicates`."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._map = context.state_map(spec.name)
        self._coder = Coder(spec, context)
        self._logs = spec.logging
        self._keeps_all = spec.retain_duplicates
        counts = self._map.get(_COUNTS)
        self.record_count, self.bytes_held, self._sequence = (0, 0, 0) if counts is None else _COUNT.unpack(counts)

    def put(self, time: int, waiting: Waiting) -> None:
        """Puts a record at its time; one whose key waits already takes that one's place."""
        key = self._coder.key_bytes(waiting.key)
        place = None if self._keeps_all else self._map.get(_PLACE + key)
        new, old = (self._coder.value_bytes(value) for value in waiting.change[:2])
        prior = old
        if place is None:
            self._sequence += 1
            suffix = _TIME.pack(self._sequence) if self._keeps_all else b""
            place = _ENTRY + _TIME.pack(time) + key + suffix
            self._map.put(_PLACE + key, place)
        else:
            prior = self._prior_at(place)
            self._forget_size(place)
        value = _encoded(waiting, len(key), (new, old, prior))
        self._map.put(place, value)
        self._add_size(value)
        self._keep_counts()
        self._log(place, value)

    def is_waiting(self, key: Any) -> bool:
        """Whether a record of this key waits."""
        return self._map.get(_PLACE + self._coder.key_bytes(key)) is not None

    def prior(self, key: Any) -> Any:
        """The value that a waiting key had before its first update that waits: the one that was last sent."""
        place = self._map.get(_PLACE + self._coder.key_bytes(key))
        found = None if place is None else self._prior_at(place)
        return None if found is None else self._coder.value(found)

    def oldest(self) -> Iterator[tuple[bytes, Waiting]]:
        """The waiting records with their places, oldest first; the caller removes what it takes."""
        for place, value in self._map.scan(_ENTRY, _PLACE):
            yield place, self._decoded(place, value)

    def remove(self, place: bytes) -> None:
        """Takes a record out."""
        self._forget_size(place)
        self._map.delete(place)
        if not self._keeps_all:
            self._map.delete(_PLACE + place[9:])
        self._keep_counts()
        self._log(place, None)

    def min_time(self) -> int | None:
        """The time of the oldest record."""
        first = next(self._map.scan(_ENTRY, _PLACE), None)
        return None if first is None else int(_TIME.unpack_from(first[0], 1)[0])

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        place = change.key
        if self._map.get(place) is not None:
            self._forget_size(place)
        if change.value is None:
            self._map.delete(place)
            self._map.delete(_PLACE + place[9:])
            self._keep_counts()
            return
        self._map.put(place, change.value)
        if self._keeps_all:
            self._sequence = max(self._sequence, _TIME.unpack_from(place, len(place) - 8)[0])
        else:
            self._map.put(_PLACE + place[9:], place)
        self._add_size(change.value)
        self._keep_counts()

    def _keep_counts(self) -> None:
        self._map.put(_COUNTS, _COUNT.pack(self.record_count, self.bytes_held, self._sequence))

    def _forget_size(self, place: bytes) -> None:
        value = self._map.get(place)
        self.record_count -= 1
        self.bytes_held -= 0 if value is None else _HEAD.unpack_from(value)[2]

    def _add_size(self, value: bytes) -> None:
        self.record_count += 1
        self.bytes_held += _HEAD.unpack_from(value)[2]

    def _prior_at(self, place: bytes) -> bytes | None:
        value = self._map.get(place)
        return None if value is None else next(islice(_fields(value, _HEAD.size), 2, None))

    def _log(self, place: bytes, value: bytes | None) -> None:
        if self._logs:
            self._context.log_change(self.name, LoggedChange(place, value, self._context.now()))

    def _decoded(self, place: bytes, data: bytes) -> Waiting:
        time: int = _TIME.unpack_from(place, 1)[0]
        timestamp, latest, _ = _HEAD.unpack_from(data)
        fields = list(_fields(data, _HEAD.size))
        new, old = (None if field is None else self._coder.value(field) for field in fields[:2])
        names, contents = fields[3::2], fields[4::2]
        headers = tuple(((name or b"").decode(), content) for name, content in zip(names, contents, strict=True))
        key = place[9:-8] if self._keeps_all else place[9:]
        return Waiting(time, self._coder.key(key), Change(new, old, bool(latest)), timestamp, headers)


def _encoded(waiting: Waiting, key_length: int, values: tuple[bytes | None, bytes | None, bytes | None]) -> bytes:
    """The entry; of its values the new, the old, and the one before the first update that waits."""
    _, old, prior = values
    counted = [data for data in values if data is not None]
    size = _FIXED_SIZE + key_length + len(waiting.topic) + sum(map(len, counted))
    if old is not None and old == prior:
        size -= len(old)
    parts = [_sized(data) for data in values]
    for name, content in waiting.headers:
        parts += [_sized(name.encode()), _sized(content)]
        size += len(name) + len(content or b"")
    return b"".join([_HEAD.pack(waiting.timestamp, waiting.change.latest, size), *parts])


def _sized(data: bytes | None) -> bytes:
    return _LENGTH.pack(-1) if data is None else _LENGTH.pack(len(data)) + data


def _fields(data: bytes, position: int) -> Iterator[bytes | None]:
    while position < len(data):
        length: int = _LENGTH.unpack_from(data, position)[0]
        position += _LENGTH.size
        yield None if length < 0 else data[position : position + length]
        position += max(length, 0)
