"""The interface of a coordinator to the runtime.

A machine belongs to one shard. It may keep soft state of its own (who waits for an answer), which dies with
`unloaded`; everything that must survive is in the immutable state `S`, and changes by replaying records alone.
"""

from typing import Final, Protocol, TypeVar

from ottla.base.buffer import Buffer
from ottla.coordinator.ports import KeyValue
from ottla.protocol.coordinator_record import CoordinatorLog, CoordinatorRecord

S = TypeVar("S")


class Machine(Protocol[S]):
    """A replicated state machine.

    `replay` and `replay_marker` must not refuse: what is in the log is true. The offset of a record is where it is in
    the log, or will be; the producer id is -1 outside transactions.
    """

    def initial(self) -> S:
        """The state of an empty log."""
        ...

    def replay(self, state: S, record: CoordinatorRecord, offset: int, producer_id: int, producer_epoch: int) -> S:
        """The state after a record."""
        ...

    def replay_marker(self, state: S, producer_id: int, producer_epoch: int, *, committed: bool) -> S:
        """The state after the end of a producer's transaction."""
        ...

    def encode(self, record: CoordinatorRecord) -> KeyValue:
        """A record as it goes into the log."""
        ...

    def decode(self, key: Buffer, value: Buffer | None) -> CoordinatorRecord | None:
        """A record from the log; None for a type that this release does not know. `DecodeError` for broken ones."""
        ...

    def loaded(self, state: S, now_ms: int) -> None:
        """The log was replayed to its end and operations will follow: set up timers and soft state."""
        ...

    def unloaded(self) -> None:
        """The shard is over: forget soft state. Who waits in it must be answered NOT_COORDINATOR by the machine."""
        ...


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
