"""Key-value stores: the plain one of processors, and the timestamped one of tables.

On disk a timestamped value is eight bytes of its time, then the value. In the changelog the record's timestamp
carries the time, and the value stands alone, as in Kafka Streams.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import Any, Final, Generic, cast

from ottla.streams.engine.store.coder import Coder
from ottla.streams.engine.store.spec import LoggedChange, StoreContext, StoreSpec
from ottla.streams.engine.store.state_map import increment
from ottla.streams.record import K, V

_TIME: Final = struct.Struct(">q")
NO_TIMESTAMP: Final = -1


class KeyValueStore(Generic[K, V]):
    """Keys with a value each, in the order of the keys' bytes."""

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._map = context.state_map(spec.name)
        self._coder = Coder(spec, context)
        self._logs = spec.logging

    def get(self, key: K) -> V | None:
        """The key's value, or None."""
        data = self._map.get(self._coder.key_bytes(key))
        return None if data is None else cast("V", self._coder.value(data))

    def put(self, key: K, value: V | None) -> None:
        """Sets the key's value; None deletes it."""
        self._write(self._coder.key_bytes(key), self._coder.value_bytes(value))

    def put_if_absent(self, key: K, value: V | None) -> V | None:
        """Sets the value of a key that has none; the value it had."""
        old = self.get(key)
        if old is None:
            self.put(key, value)
        return old

    def put_all(self, pairs: Iterable[tuple[K, V | None]]) -> None:
        """Sets several values."""
        for key, value in pairs:
            self.put(key, value)

    def delete(self, key: K) -> V | None:
        """Removes the key; the value it had."""
        old = self.get(key)
        self.put(key, None)
        return old

    def range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[K, V]]:
        """The pairs from one key to another, both included; None is no bound."""
        low = b"" if key_from is None else self._coder.key_bytes(key_from)
        high = None if key_to is None else self._coder.key_bytes(key_to) + b"\x00"
        return self._pairs(low, high)

    def all(self) -> Iterator[tuple[K, V]]:
        """All pairs."""
        return self._pairs(b"", None)

    def prefix_scan(self, prefix: bytes) -> Iterator[tuple[K, V]]:
        """The pairs whose encoded keys begin with `prefix`."""
        return self._pairs(prefix, increment(prefix))

    def reverse_range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[K, V]]:
        """As `range`, last key first."""
        return reversed(list(self.range(key_from, key_to)))

    def reverse_all(self) -> Iterator[tuple[K, V]]:
        """As `all`, last key first."""
        return reversed(list(self.all()))

    def approximate_num_entries(self) -> int:
        """The number of pairs."""
        return sum(1 for _ in self._map.scan(b"", None))

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        if change.value is None:
            self._map.delete(change.key)
        else:
            self._map.put(change.key, change.value)

    def _write(self, key: bytes, value: bytes | None) -> None:
        if value is None:
            self._map.delete(key)
        else:
            self._map.put(key, value)
        if self._logs:
            self._context.log_change(self.name, LoggedChange(key, value, self._context.now()))

    def _pairs(self, low: bytes, high: bytes | None) -> Iterator[tuple[K, V]]:
        return ((self._coder.key(key), self._coder.value(value)) for key, value in self._map.scan(low, high))


class TimestampedKeyValueStore(Generic[K, V]):
    """The store of a table: each value with its time."""

    versioned: Final = False

    def __init__(self, spec: StoreSpec, context: StoreContext) -> None:
        self.name: Final = spec.name
        self._context = context
        self._map = context.state_map(spec.name)
        self._coder = Coder(spec, context)
        self._logs = spec.logging

    def get(self, key: K) -> tuple[V, int] | None:
        """The key's value and its time."""
        data = self._map.get(self._coder.key_bytes(key))
        return None if data is None else (self._coder.value(data[8:]), _TIME.unpack_from(data)[0])

    def put(self, key: K, value: V | None, timestamp: int) -> bool | None:
        """Sets the key's value and time; None deletes it. True: this is the latest value, as it always is here."""
        raw_key, raw = self._coder.key_bytes(key), self._coder.value_bytes(value)
        if raw is None:
            self._map.delete(raw_key)
        else:
            self._map.put(raw_key, _TIME.pack(timestamp) + raw)
        if self._logs:
            logged_at = self._context.now() if raw is None or timestamp < 0 else timestamp
            self._context.log_change(self.name, LoggedChange(raw_key, raw, logged_at))
        return True

    def range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[K, tuple[V, int]]]:
        """The pairs from one key to another, both included; None is no bound."""
        low = b"" if key_from is None else self._coder.key_bytes(key_from)
        high = None if key_to is None else self._coder.key_bytes(key_to) + b"\x00"
        for key, data in self._map.scan(low, high):
            yield self._coder.key(key), (self._coder.value(data[8:]), _TIME.unpack_from(data)[0])

    def all(self) -> Iterator[tuple[K, tuple[V, int]]]:
        """All pairs."""
        return self.range(None, None)

    def prefix_scan(self, prefix: bytes) -> Iterator[tuple[K, tuple[V, int]]]:
        """The pairs whose keys' bytes begin like this."""
        for key, data in self._map.scan(prefix, increment(prefix)):
            yield self._coder.key(key), (self._coder.value(data[8:]), _TIME.unpack_from(data)[0])

    def reverse_range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[K, tuple[V, int]]]:
        """As `range`, last key first."""
        return reversed(list(self.range(key_from, key_to)))

    def reverse_all(self) -> Iterator[tuple[K, tuple[V, int]]]:
        """As `all`, last key first."""
        return self.reverse_range(None, None)

    def approximate_num_entries(self) -> int:
        """The number of pairs."""
        return sum(1 for _ in self._map.scan(b"", None))

    def restore(self, change: LoggedChange) -> None:
        """Takes a record of the changelog."""
        if change.value is None:
            self._map.delete(change.key)
        else:
            self._map.put(change.key, _TIME.pack(change.timestamp) + change.value)


class ValueView(Generic[K, V]):
    """A timestamped store as readers want it: the values alone, unless they ask for the times as well."""

    def __init__(self, store: TimestampedKeyValueStore[K, V]) -> None:
        self._store = store

    def get(self, key: K) -> V | None:
        """The key's value, or None."""
        found = self._store.get(key)
        return None if found is None else found[0]

    def get_with_timestamp(self, key: K) -> tuple[V, int] | None:
        """The key's value and its time, or None."""
        return self._store.get(key)

    def put(self, key: K, value: V | None, timestamp: int = NO_TIMESTAMP) -> None:
        """Sets the key's value and time; None deletes it. A value without a time is older than all others."""
        self._store.put(key, value, timestamp)

    def put_if_absent(self, key: K, value: V | None, timestamp: int = NO_TIMESTAMP) -> V | None:
        """Sets the value of a key that has none; the value it had."""
        old = self.get(key)
        if old is None:
            self.put(key, value, timestamp)
        return old

    def put_all(self, pairs: Iterable[tuple[K, V | None]]) -> None:
        """Sets several values, without times."""
        for key, value in pairs:
            self.put(key, value)

    def delete(self, key: K) -> V | None:
        """Removes the key; the value it had."""
        old = self.get(key)
        self._store.put(key, None, 0)
        return old

    def range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[K, V]]:
        """The pairs from one key to another, both included; None is no bound."""
        return ((key, value) for key, (value, _) in self._store.range(key_from, key_to))

    def all(self) -> Iterator[tuple[K, V]]:
        """All pairs."""
        return self.range(None, None)

    def prefix_scan(self, prefix: bytes) -> Iterator[tuple[K, V]]:
        """The pairs whose keys' bytes begin like this."""
        return ((key, value) for key, (value, _) in self._store.prefix_scan(prefix))

    def reverse_range(self, key_from: K | None, key_to: K | None) -> Iterator[tuple[K, V]]:
        """As `range`, last key first."""
        return ((key, value) for key, (value, _) in self._store.reverse_range(key_from, key_to))

    def reverse_all(self) -> Iterator[tuple[K, V]]:
        """As `all`, last key first."""
        return self.reverse_range(None, None)

    def approximate_num_entries(self) -> int:
        """The number of pairs."""
        return self._store.approximate_num_entries()


AnyValueView = ValueView[Any, Any]
