"""Versioned stores: the value of a key as of a time.

A version holds until the next one of its key. Versions that ended before stream time minus the history retention
are dropped; the latest one stays. A latest version that is deleted at its own time, with no value before it, leaves
no trace, as in Kafka Streams: an older one that comes late is the latest again. Each version lies at length of key ++
key ++ time, a deletion as one byte 0, a value as one byte 1 and its bytes.
"""

import struct
from itertools import pairwise
from typing import Final, Generic, NamedTuple

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.spec import LoggedChange, StoreContext, StoreSpec
from ottla.streams.record import K, V

_LENGTH: Final = struct.Struct(">I")
_TIME: Final = struct.Struct(">q")
_OBSERVED: Final = b"\xff\xff\xff\xffobserved"


class VersionedRecord(NamedTuple, Generic[V]):
    """A value, the time it is from, and the time at which the next version began (None: it is the latest)."""

    value: V
    timestamp: int
    valid_to: int | None = None


class VersionedKeyValueStore(Generic[K, V]):
    """The store of a versioned table."""

    versioned: Final = True

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._map = context.state_map(spec.name)
        self._coder = Coder(spec, context)
        self._logs = spec.logging
        self._history = spec.retention_ms
        stored = self._map.get(_OBSERVED)
        self._observed = -1 if stored is None else int(_TIME.unpack(stored)[0])

    def get(self, key: K) -> tuple[V, int] | None:
        """The latest value and its time."""
        found = self.get_version(key, None)
        return None if found is None else (found.value, found.timestamp)

    def get_as_of(self, key: K, as_of_timestamp: int) -> tuple[V, int] | None:
        """The value that held at this time, and since when; None as well where the history is forgotten."""
        found = self.get_version(key, as_of_timestamp)
        return None if found is None else (found.value, found.timestamp)

    def get_version(self, key: K, as_of_timestamp: int | None) -> VersionedRecord[V] | None:
        """The version that held at a time, or the latest, with the bounds of its validity."""
        valid_to: int | None = None
        for timestamp, data in reversed(self._versions(self._coder.key_bytes(key))):
            if as_of_timestamp is None or timestamp <= as_of_timestamp:
                if data is None or (valid_to is not None and self._is_forgotten(as_of_timestamp)):
                    return None
                return VersionedRecord(self._coder.value(data), timestamp, valid_to)
            valid_to = timestamp
        return None

    def put(self, key: K, value: V | None, timestamp: int) -> bool | None:
        """Adds a version. None: it is too old and nothing was done; else whether it is the latest one."""
        raw_key, raw = self._coder.key_bytes(key), self._coder.value_bytes(value)
        outcome = self._insert(raw_key, raw, timestamp)
        if outcome is not None and self._logs:
            self._context.log_change(self.name, LoggedChange(raw_key, raw, timestamp))
        return outcome

    def delete(self, key: K, timestamp: int) -> tuple[V, int] | None:
        """Ends the key's value at this time; the value that held then."""
        old = self.get_as_of(key, timestamp)
        self.put(key, None, timestamp)
        return old

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        self._insert(change.key, change.value, change.timestamp)

    def _insert(self, key: bytes, value: bytes | None, timestamp: int) -> bool | None:
        if timestamp < self._observed - self._history:
            return None
        if timestamp > self._observed:
            self._observed = timestamp
            self._map.put(_OBSERVED, _TIME.pack(timestamp))
        place = _prefix(key) + _TIME.pack(timestamp)
        replaced = self._map.get(place) if value is None else None
        self._map.put(place, b"\x00" if value is None else b"\x01" + value)
        versions = self._versions(key)
        self._forget(key, versions)
        is_latest = versions[-1][0] == timestamp
        if is_latest and replaced not in (None, b"\x00") and (len(versions) == 1 or versions[-2][1] is None):
            self._map.delete(place)
        return is_latest

    def _versions(self, key: bytes) -> list[tuple[int, bytes | None]]:
        prefix = _prefix(key)
        found = self._map.scan(prefix, prefix + b"\xff" * 9)
        return [(_TIME.unpack_from(full, len(prefix))[0], data[1:] if data[0] else None) for full, data in found]

    def _forget(self, key: bytes, versions: list[tuple[int, bytes | None]]) -> None:
        for (timestamp, _), (valid_to, _) in pairwise(versions):
            if valid_to < self._observed - self._history:
                self._map.delete(_prefix(key) + _TIME.pack(timestamp))

    def _is_forgotten(self, as_of_timestamp: int | None) -> bool:
        return as_of_timestamp is not None and as_of_timestamp < self._observed - self._history


def _prefix(key: bytes) -> bytes:
    return _LENGTH.pack(len(key)) + key
