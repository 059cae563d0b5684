"""Records to bytes and back, by the types of one internal topic."""

from typing import Final

from ottla.base.buffer import Buffer
from ottla.coordinator.ports import KeyValue
from ottla.protocol.coordinator_record import CoordinatorLog, CoordinatorRecord


class RecordCodec:
    """The half of a `Machine` that knows bytes."""

    def __init__(self, types: CoordinatorLog) -> None:
        self._types: Final = types

    def encode(self, record: CoordinatorRecord) -> KeyValue:
        """A record as it goes into the log."""
        key, value, version = record
        encoded = None if value is None else self._types.encode_value(value, version)
        return self._types.encode_key(key), encoded

    def decode(self, key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
        """A record from the log; None for a type that is not known. `DecodeError` for what can't be read.

        A newer release may have written types that we don't know; they are passed over, and so can be downgraded from.
        """
        if len(key) >= 2 and int.from_bytes(key[:2], "big", signed=True) not in self._types.types:
            return None
        return self._types.decode(key, value)
