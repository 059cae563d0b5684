"""The store of a foreign-key join: subscriptions by foreign key, and the messages between the join's two halves.

A subscription lies at length of foreign key ++ foreign key ++ primary key, as in Kafka Streams, so that all
subscribers of a foreign key are one range. A hash says whether a response still belongs to the row that asked. Only
that row reads it, so that it may be BLAKE2 here and Murmur3 in Kafka Streams.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.spec import LoggedChange, StoreContext, StoreSpec
from ottla.streams.engine.store.state_map import increment

_LENGTH: Final = struct.Struct(">i")
_HASH_BYTES: Final = 16
_NO_HASH: Final = 0x80


class Instruction(IntEnum):
    """A row's request to the foreign table."""

    DELETE_KEY_NO_PROPAGATE = 0
    DELETE_KEY_AND_PROPAGATE = 1
    PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE = 2
    PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE = 3


class Subscription(NamedTuple):
    """A row's request: the hash of its value, what it asks for, its key and its partition."""

    value_hash: bytes | None
    instruction: Instruction
    primary_key: bytes
    partition: int

    def encoded(self) -> bytes:
        """The request's bytes, in version 1 of Kafka Streams' format."""
        version = 1 if self.value_hash is not None else 1 | _NO_HASH
        head = bytes((version, self.instruction)) + (self.value_hash or b"")
        return head + self.primary_key + _LENGTH.pack(self.partition)

    @classmethod
    def decoded(cls, data: bytes) -> "Subscription":
        """The request that these bytes mean."""
        at = 2 if data[0] & _NO_HASH else 2 + _HASH_BYTES
        partition: int = _LENGTH.unpack_from(data, len(data) - 4)[0]
        return cls(data[2:at] or None, Instruction(data[1]), data[at:-4], partition)


class Response(NamedTuple):
    """The foreign table's answer: the hash it was asked with, the foreign row, and the partition that asked."""

    value_hash: bytes | None
    foreign_value: bytes | None
    partition: int

    def encoded(self) -> bytes:
        """The answer's bytes."""
        version = 1 if self.value_hash is not None else 1 | _NO_HASH
        head = bytes((version,)) + _LENGTH.pack(self.partition)
        return head + (self.value_hash or b"") + (self.foreign_value or b"")

    @classmethod
    def decoded(cls, data: bytes) -> "Response":
        """The answer that these bytes mean."""
        at = 5 if data[0] & _NO_HASH else 5 + _HASH_BYTES
        partition: int = _LENGTH.unpack_from(data, 1)[0]
        return cls(data[5:at] or None, data[at:] or None, partition)


def partition_of_response(topic: str, key: Any, value: bytes, partitions: int) -> int:
    """An answer goes back to the partition that asked, whoever put the row there."""
    return Response.decoded(value).partition


def hash_of(data: bytes | None) -> bytes | None:
    """The hash of a row's value."""
    return None if data is None else blake2b(data, digest_size=_HASH_BYTES).digest()


class SubscriptionStore:
    """Subscriptions by foreign and primary key. Keys are encoded by the foreign table's serde."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._map = context.state_map(spec.name)
        self._coder = Coder(spec, context)
        self._logs = spec.logging

    def put(self, foreign_key: Any, subscription: Subscription) -> None:
        """Subscribes."""
        self._write(self._place(foreign_key) + subscription.primary_key, subscription.encoded())

    def delete(self, foreign_key: Any, primary_key: bytes) -> None:
        """Unsubscribes."""
        self._write(self._place(foreign_key) + primary_key, None)

    def subscribers(self, foreign_key: Any) -> Iterator[Subscription]:
        """All that wait for a foreign key, in the order of their keys."""
        prefix = self._place(foreign_key)
        return (Subscription.decoded(data) for _, data in self._map.scan(prefix, increment(prefix)))

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        if change.value is None:
            self._map.delete(change.key)
        else:
            self._map.put(change.key, change.value)

    def _place(self, foreign_key: Any) -> bytes:
        data = self._coder.key_bytes(foreign_key)
        return _LENGTH.pack(len(data)) + data

    def _write(self, place: bytes, data: bytes | None) -> None:
        if data is None:
            self._map.delete(place)
        else:
            self._map.put(place, data)
        if self._logs:
            self._context.log_change(self.name, LoggedChange(place, data, self._context.now()))
