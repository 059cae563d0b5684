"""Records of an outer stream–stream join that no partner has come for yet, in the order of time.

The key is time ++ side ++ key, as in Kafka Streams; records of one key and millisecond stand in one list.
"""

import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.spec import LoggedChange, SerdeRole, StoreContext, StoreSpec
from ottla.streams.serde import Serde

_TIME: Final = struct.Struct(">q")
_LENGTH: Final = struct.Struct(">i")
LEFT: Final = b"\x01"
RIGHT: Final = b"\x00"


class Unmatched(NamedTuple):
    """A record without a partner."""

    place: bytes
    timestamp: int
    is_left: bool
    key: Any
    values: list[Any]


class OuterJoinStore:
    """The unmatched records of both sides."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._map = context.state_map(spec.name)
        self._coder = Coder(spec, context)
        self._other: Serde[Any] | None = spec.other_value_serde or context.default_serde(SerdeRole.VALUE)
        self._topic = f"{context.application_id}-{spec.name}-changelog"
        self._logs = spec.logging

    def add(self, key: Any, timestamp: int, side: bytes, value: Any) -> None:
        """Adds an unmatched record."""
        place = self._place(key, timestamp, side)
        data = self._serde(side).serialize(self._topic, (), value) or b""
        self._write(place, (self._map.get(place) or b"") + _LENGTH.pack(len(data)) + data)

    def discard(self, key: Any, timestamp: int, side: bytes) -> None:
        """The records have found a partner."""
        place = self._place(key, timestamp, side)
        if self._map.get(place) is not None:
            self._write(place, None)

    def remove(self, place: bytes) -> None:
        """The records have left."""
        self._write(place, None)

    def all(self) -> Iterator[Unmatched]:
        """All unmatched records, oldest first."""
        for place, data in self._map.scan(b"", None):
            timestamp: int = _TIME.unpack_from(place)[0]
            side = place[8:9]
            yield Unmatched(place, timestamp, side == LEFT, self._coder.key(place[9:]), list(self._values(side, data)))

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        if change.value is None:
            self._map.delete(change.key)
        else:
            self._map.put(change.key, change.value)

    def _values(self, side: bytes, data: bytes) -> Iterator[Any]:
        position = 0
        while position < len(data):
            length: int = _LENGTH.unpack_from(data, position)[0]
            yield self._serde(side).deserialize(self._topic, (), data[position + 4 : position + 4 + length])
            position += 4 + length

    def _serde(self, side: bytes) -> Any:
        return self._coder.value_serde if side == LEFT else self._other

    def _place(self, key: Any, timestamp: int, side: bytes) -> bytes:
        return _TIME.pack(timestamp) + side + self._coder.key_bytes(key)

    def _write(self, place: bytes, data: bytes | None) -> None:
        if data is None:
            self._map.delete(place)
        else:
            self._map.put(place, data)
        if self._logs:
            self._context.log_change(self.name, LoggedChange(place, data, self._context.now()))
