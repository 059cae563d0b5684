"""Reads a store beside its task: a view of its own over the same bytes, which keeps nothing from writing.

A scan is read page by page. It sees what is there when it comes to it: a key that is written meanwhile is seen before
or after that, and no key is seen twice.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from ottla.streams.engine.store.opening import open_store, view_of
from ottla.streams.engine.store.spec import LoggedChange, SerdeRole, StoreSpec
from ottla.streams.engine.store.state_map import StateMap
from ottla.streams.errors import StreamsError
from ottla.streams.serde import Serde

_PAGE: Final = 128


class PagedMap(Protocol):
    """A map that can be read page by page."""

    def get(self, key: bytes) -> bytes | None:
        """The value, or None."""
        ...

    def page(self, low: bytes, high: bytes | None, count: int) -> tuple[list[tuple[bytes, bytes]], bytes | None]:
        """Some pairs, and where to go on."""
        ...


class ReadOnlyMap:
    """A map that refuses to be written to."""

    def __init__(self, source: PagedMap) -> None:
        self._source = source

    def get(self, key: bytes) -> bytes | None:
        """The value, or None."""
        return self._source.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Refuses."""
        raise StreamsError("a store that is read from outside of its processors cannot be written to")

    def delete(self, key: bytes) -> None:
        """Refuses."""
        raise StreamsError("a store that is read from outside of its processors cannot be written to")

    def scan(self, low: bytes, high: bytes | None) -> Iterator[tuple[bytes, bytes]]:
        """The pairs with low ≤ key < high in order; None is the end."""
        following: bytes | None = low
        while following is not None:
            pairs, following = self._source.page(following, high, _PAGE)
            yield from pairs


class _Context:
    """The context of a store that is only read."""

    def __init__(self, application_id: str, state_map: StateMap, serdes: Callable[[SerdeRole], Any]) -> None:
        self.application_id = application_id
        self._state_map = state_map
        self._serdes = serdes

    def state_map(self, store: str) -> StateMap:
        """The bytes."""
        return self._state_map

    def log_change(self, store: str, change: LoggedChange) -> None:
        """Never called: the store is only read."""

    def now(self) -> int:
        """Never called: only writes need the time."""
        return 0

    def default_serde(self, of_key: SerdeRole) -> Serde[Any] | None:
        """The serde that the configuration names."""
        serde: Serde[Any] | None = self._serdes(of_key)
        return serde


def read_store(
    spec: StoreSpec, application_id: str, source: PagedMap, serdes: Callable[[SerdeRole], Any], *, with_times: bool
) -> Any:
    """A store as readers see it; `with_times` leaves values with their times where the store has them."""
    store = open_store(spec, _Context(application_id, ReadOnlyMap(source), serdes))
    return store if with_times else view_of(store)
