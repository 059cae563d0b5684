"""Reads a local state while another process writes to it: what its last committed batch has left.

Each look is a transaction of its own, so that a long scan holds nothing back. A state that was deleted and made anew
(restored, reset) is noticed and opened again.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from ottla.streams.state.errors import StateUnavailableError
from ottla.streams.state.lmdb_map import LmdbMap, Pair, UndoLog
from ottla.streams.state.local_state import MAP_BYTES, has_position, store_prefix

try:
    import lmdb
except ImportError:  # pragma: no cover - the extra that brings it is not installed
    lmdb = None  # type: ignore[assignment]

T = TypeVar("T")


class StateReader:
    """One environment, for the threads of one process."""

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._lock: Final = threading.Lock()
        self._environment: Any = None
        self._databases: tuple[Any, ...] = ()
        self._opened: tuple[int, int] = (0, 0)

    def map(self, store: str) -> "StoreMap":
        """The bytes of a store, for `read_store`."""
        return StoreMap(self, store)

    def look(self, store: str, ask: Callable[[LmdbMap], T]) -> T:
        """Calls a function with a store, for its result; raises `StateUnavailableError` without a state."""
        with self._lock, self._current() as (environment, data, meta), environment.begin() as transaction:
            return ask(LmdbMap(transaction, data, store_prefix(transaction, meta, store), UndoLog(is_kept=False)))

    def is_there(self) -> bool:
        """Whether there is a committed state; one that is being restored does not count."""
        if not (self._path / "data.mdb").exists():
            return False
        with self._lock, self._current() as (environment, _, meta), environment.begin() as transaction:
            return has_position(transaction, meta)

    def close(self) -> None:
        """Closes it."""
        with self._lock:
            self._close()

    @contextmanager
    def _current(self) -> Iterator[tuple[Any, Any, Any]]:
        try:
            found = (self._path / "data.mdb").stat()
            identity = (found.st_dev, found.st_ino)
            if self._environment is None or identity != self._opened:
                self._close()
                self._environment = lmdb.open(
                    str(self._path), map_size=MAP_BYTES, max_dbs=3, readonly=True, create=False
                )
                self._databases = tuple(self._environment.open_db(name, create=False) for name in (b"d", b"m"))
                self._opened = identity
            yield self._environment, *self._databases
        except (OSError, lmdb.Error) as error:
            self._close()
            raise StateUnavailableError(f"the state in {self._path} cannot be read: {error}") from error

    def _close(self) -> None:
        environment, self._environment = self._environment, None
        if environment is not None:
            with contextlib.suppress(lmdb.Error):
                environment.close()


class StoreMap:
    """One store of a state that another process has open."""

    def __init__(self, reader: StateReader, store: str) -> None:
        self._reader: Final = reader
        self._store: Final = store

    def get(self, key: bytes) -> bytes | None:
        """The value, or None."""
        return self._reader.look(self._store, lambda found: found.get(key))

    def page(self, low: bytes, high: bytes | None, count: int) -> tuple[list[Pair], bytes | None]:
        """Some pairs, and where to go on."""
        return self._reader.look(self._store, lambda found: found.page(low, high, count))
