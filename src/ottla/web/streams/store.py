"""Reads this instance's part of a store: one key, or some pairs, as JSON.

Kinds of stores differ in the result of a lookup: a value of a key-value or versioned store, windows or sessions of
others.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, Protocol

from ottla.base.frozen import frozen
from ottla.streams.engine.store.spec import StoreKind, StoreSpec
from ottla.streams.engine.topology import Topology
from ottla.streams.local.query.place import KeyQueryMetadata, StreamsMetadata
from ottla.streams.local.query.reader import QueryableStoreType, type_of
from ottla.streams.record import Windowed
from ottla.web.http.errors import HttpError
from ottla.web.streams.value import key_of, shown

LIMIT: Final = 1_000
_TIME_MAX: Final = (1 << 63) - 1
_WITH_TIMES: Final = {
    StoreKind.TIMESTAMPED_KEY_VALUE: QueryableStoreType.TIMESTAMPED_KEY_VALUE,
    StoreKind.TIMESTAMPED_WINDOW: QueryableStoreType.TIMESTAMPED_WINDOW,
}
_KEY_VALUE: Final = (StoreKind.KEY_VALUE, StoreKind.TIMESTAMPED_KEY_VALUE)
_WINDOWED: Final = (StoreKind.WINDOW, StoreKind.TIMESTAMPED_WINDOW)

Pair = dict[str, Any]


class Queryable(Protocol):
    """An instance whose stores can be read: a `KafkaStreams` of either host."""

    @property
    def topology(self) -> Topology:
        """What runs."""
        ...

    @property
    def configuration(self) -> Mapping[str, Any]:
        """How it was configured."""
        ...

    @property
    def state(self) -> Any:
        """What it is doing."""
        ...

    def store(
        self,
        name: str,
        store_type: QueryableStoreType | None = None,
        *,
        partition: int | None = None,
        stale: bool = False,
    ) -> Any:
        """A store, as far as this instance has it."""
        ...

    def query_metadata_for_key(self, store: str, key: Any) -> KeyQueryMetadata:
        """The owner of a key, and the instances with copies."""
        ...

    def streams_metadata_for_store(self, store: str) -> list[StreamsMetadata]:
        """The instances with partitions of a store."""
        ...

    def metadata_for_all_streams_clients(self) -> list[StreamsMetadata]:
        """All instances."""
        ...


@frozen
class StoreRequest:
    """The parameters of a request, as texts."""

    has_times: bool = False
    is_stale: bool = False
    low: str | None = None
    high: str | None = None
    as_of: int | None = None
    limit: int = LIMIT


class LocalStore:
    """One store, of this instance."""

    def __init__(self, streams: Queryable, name: str) -> None:
        found = streams.topology.stores.get(name)
        if found is None:
            raise HttpError(404, f"Cannot get state store {name} because no such store is registered in the topology.")
        self.name: Final = name
        self.spec: Final[StoreSpec] = found
        self.is_global: Final = name in streams.topology.global_sources.values()
        """Whether every instance has all of it."""
        self._streams: Final = streams

    def key(self, text: str) -> Any:
        """The key that a text means."""
        return key_of(self.spec.key_serde or self._streams.configuration.get("default.key.serde"), text)

    def lookup(self, text: str, request: StoreRequest, partition: int | None) -> Pair:
        """The store's content for a key; `HttpError` 404 if there is none."""
        key, store = self.key(text), self._store(request, partition)
        timed = self._is_timed(request)
        kind, pair = self.spec.kind, {"store": self.name, "key": shown(key)}
        if kind in _KEY_VALUE:
            value = store.get(key)
        elif kind is StoreKind.VERSIONED:
            value = store.get(key, request.as_of)
        elif kind in _WINDOWED:
            low, high = _times(request)
            found = islice(store.fetch(key, low, high), request.limit)
            return pair | {"windows": [{"start": start, **_value(one, timed)} for start, one in found]}
        else:
            sessions = islice(store.fetch(key), request.limit)
            return pair | {"sessions": [_pair(key, value, timed) for key, value in sessions]}
        if value is None:
            raise HttpError(404, f"The store {self.name} has no key {text!r}.", 40404)
        return pair | (_value(value, timed or kind is StoreKind.VERSIONED))

    def pairs(self, request: StoreRequest) -> list[Pair]:
        """Pairs of all partitions that are here, up to the limit: by key, or windows by their start."""
        store = self._store(request, None)
        found: Iterable[tuple[Any, Any]]
        if self.spec.kind in _KEY_VALUE:
            low, high = (None if text is None else self.key(text) for text in (request.low, request.high))
            found = store.range(low, high)
        elif self.spec.kind in _WINDOWED:
            found = store.fetch_all(*_times(request))
        elif self.spec.kind is StoreKind.SESSION:
            found = store.all()
        else:
            raise HttpError(400, f"A {self.spec.kind.value} store is read key by key.")
        return [_pair(key, value, self._is_timed(request)) for key, value in islice(found, request.limit)]

    def _store(self, request: StoreRequest, partition: int | None) -> Any:
        wanted = _WITH_TIMES[self.spec.kind] if self._is_timed(request) else type_of(self.spec.kind)
        return self._streams.store(self.name, wanted, partition=partition, stale=request.is_stale)

    def _is_timed(self, request: StoreRequest) -> bool:
        return request.has_times and self.spec.kind in _WITH_TIMES


def _times(request: StoreRequest) -> tuple[int, int]:
    try:
        return int(request.low or 0), int(request.high or _TIME_MAX)
    except ValueError:
        raise HttpError(400, "from and to of a window store are times in milliseconds since 1970.") from None


def _pair(key: Any, value: Any, timed: object) -> Pair:
    named = shown(key) if isinstance(key, Windowed) else {"key": shown(key)}
    return {**named, **_value(value, timed)}


def _value(value: Any, timed: object) -> Pair:
    """A value, or a pair of it and its time."""
    return {"value": shown(value[0]), "timestamp": value[1]} if timed else {"value": shown(value)}
