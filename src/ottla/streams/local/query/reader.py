"""Interactive queries: the stores of this process, read from any thread while tasks work on.

Each call is done in the tasks' loop, between two turns, so that it sees all that was processed so far, what is not
committed yet included, as with Kafka Streams. A store is spread over the partitions that run here: a key is looked up
in each, and a scan goes through one after the other.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, Final, TypeVar

from ottla.streams.engine.store.spec import StoreKind
from ottla.streams.errors import StreamsError

_PAGE: Final = 256
T = TypeVar("T")

Run = Callable[[Callable[[], Any]], Any]
"""Has a function called in the tasks' loop, and hands back what it returns."""
Views = Callable[[], Sequence[Any]]
"""The views of a store that there are, one for each partition; raises if some have gone."""


class StreamsNotRunningError(StreamsError):
    """A store was asked for while no task runs."""


class InvalidStateStoreError(StreamsError):
    """The store cannot be asked here and now: it has moved, or is being restored."""


class UnknownStateStoreError(InvalidStateStoreError):
    """The topology has no store of this name."""


class QueryableStoreType(Enum):
    """As what a store is read: values alone, or with their times."""

    KEY_VALUE = "key-value"
    TIMESTAMPED_KEY_VALUE = "timestamped key-value"
    WINDOW = "window"
    TIMESTAMPED_WINDOW = "timestamped window"
    SESSION = "session"
    VERSIONED = "versioned"

    @property
    def with_times(self) -> bool:
        """Whether values come with their timestamps."""
        return self in (QueryableStoreType.TIMESTAMPED_KEY_VALUE, QueryableStoreType.TIMESTAMPED_WINDOW)

    def check(self, name: str, kind: StoreKind) -> None:
        """Raises `InvalidStateStoreError` if a store of this kind cannot be read so."""
        if kind not in _READABLE[self]:
            raise InvalidStateStoreError(
                f"Cannot get state store {name} because the queryable store type [{self.value}] does not accept the "
                f"actual store type [{kind.value}]"
            )


_READABLE: Final = {
    QueryableStoreType.KEY_VALUE: (StoreKind.KEY_VALUE, StoreKind.TIMESTAMPED_KEY_VALUE),
    QueryableStoreType.TIMESTAMPED_KEY_VALUE: (StoreKind.TIMESTAMPED_KEY_VALUE,),
    QueryableStoreType.WINDOW: (StoreKind.WINDOW, StoreKind.TIMESTAMPED_WINDOW),
    QueryableStoreType.TIMESTAMPED_WINDOW: (StoreKind.TIMESTAMPED_WINDOW,),
    QueryableStoreType.SESSION: (StoreKind.SESSION,),
    QueryableStoreType.VERSIONED: (StoreKind.VERSIONED,),
}


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """A query of a store: its type, one partition or all that are here, with copies or without."""

    store: str
    type: QueryableStoreType
    partition: int | None = None
    stale: bool = False


def type_of(kind: StoreKind) -> QueryableStoreType:
    """The plain type by which a store is read.

    >>> type_of(StoreKind.TIMESTAMPED_KEY_VALUE)
    <QueryableStoreType.KEY_VALUE: 'key-value'>
    """
    for found, kinds in _READABLE.items():
        if kind in kinds:
            return found
    raise InvalidStateStoreError(f"a {kind.value} store cannot be queried")


class Lookups:
    """Asks the views of all partitions."""

    def __init__(self, run: Run, views: Views) -> None:
        self._run: Final = run
        self._views: Final = views

    def _first(self, ask: Callable[[Any], Any]) -> Any:
        def found() -> Any:
            answers = (ask(view) for view in self._views())
            return next((answer for answer in answers if answer is not None), None)

        return self._run(found)

    def _scan(self, ask: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        iterators: list[Iterator[Any]] = self._run(lambda: [iter(ask(view)) for view in self._views()])
        for iterator in iterators:
            while page := self._page(iterator):
                yield from page

    def _page(self, iterator: Iterator[T]) -> list[T]:
        def read() -> list[T]:
            self._views()
            return list(islice(iterator, _PAGE))

        found: list[T] = self._run(read)
        return found


class ReadOnlyStore(Lookups):
    """A store that can be read as a whole."""

    def all(self) -> Iterator[tuple[Any, Any]]:
        """All pairs of key and value, partition after partition."""
        return self._scan(lambda view: view.all())


class ReadOnlyKeyValueStore(ReadOnlyStore):
    """A key-value store."""

    def get(self, key: Any) -> Any:
        """The key's value, or None."""
        return self._first(lambda view: view.get(key))

    def range(self, key_from: Any = None, key_to: Any = None) -> Iterator[tuple[Any, Any]]:
        """The pairs from one key to another, both included; None is no bound."""
        return self._scan(lambda view: view.range(key_from, key_to))

    def reverse_range(self, key_from: Any = None, key_to: Any = None) -> Iterator[tuple[Any, Any]]:
        """As `range`, last key first."""
        return self._scan(lambda view: view.reverse_range(key_from, key_to))

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """All pairs, last key first."""
        return self._scan(lambda view: view.reverse_all())

    def prefix_scan(self, prefix: bytes) -> Iterator[tuple[Any, Any]]:
        """The pairs whose keys' bytes begin like this."""
        return self._scan(lambda view: view.prefix_scan(prefix))

    def approximate_num_entries(self) -> int:
        """The number of pairs."""
        total: int = self._run(lambda: sum(view.approximate_num_entries() for view in self._views()))
        return total


class ReadOnlyWindowStore(ReadOnlyStore):
    """A window store."""

    def fetch(self, key: Any, time_from: int, time_to: int) -> Iterator[tuple[int, Any]]:
        """Start and value of a key's windows that start between two times, both included."""
        return self._scan(lambda view: view.fetch(key, time_from, time_to))

    def fetch_window(self, key: Any, window_start: int) -> Any:
        """The value of one window, or None."""
        return self._first(lambda view: _window_of(view)(key, window_start))

    def fetch_all(self, time_from: int, time_to: int) -> Iterator[tuple[Any, Any]]:
        """All keys' windows that start between two times, both included."""
        return self._scan(lambda view: view.fetch_all(time_from, time_to))


class ReadOnlySessionStore(ReadOnlyStore):
    """A session store."""

    def fetch(self, key: Any) -> Iterator[tuple[Any, Any]]:
        """All sessions of a key."""
        return self._scan(lambda view: view.fetch(key))

    def find_sessions(self, key: Any, earliest_end: int, latest_start: int) -> Iterator[tuple[Any, Any]]:
        """The key's sessions that end at or after one time and start at or before another."""
        return self._scan(lambda view: view.find_sessions(key, earliest_end, latest_start))

    def fetch_session(self, key: Any, start: int, end: int) -> Any:
        """The value of one session, or None."""
        return self._first(lambda view: view.fetch_session(key, start, end))


class ReadOnlyVersionedStore(Lookups):
    """A versioned store: the value of a key now, or at a time."""

    def get(self, key: Any, as_of: int | None = None) -> Any:
        """Value and time of a key, or None."""
        return self._first(lambda view: view.get(key) if as_of is None else view.get_as_of(key, as_of))


def _window_of(view: Any) -> Callable[[Any, int], Any]:
    """The method of a view that looks one window up, with its timestamp or without."""
    found: Callable[[Any, int], Any] = getattr(view, "fetch_window", None) or view.get
    return found


READERS: Final[dict[QueryableStoreType, Callable[[Run, Views], Any]]] = {
    QueryableStoreType.KEY_VALUE: ReadOnlyKeyValueStore,
    QueryableStoreType.TIMESTAMPED_KEY_VALUE: ReadOnlyKeyValueStore,
    QueryableStoreType.WINDOW: ReadOnlyWindowStore,
    QueryableStoreType.TIMESTAMPED_WINDOW: ReadOnlyWindowStore,
    QueryableStoreType.SESSION: ReadOnlySessionStore,
    QueryableStoreType.VERSIONED: ReadOnlyVersionedStore,
}
