"""Answers that are kept: the schema of an id never changes, the latest version of a subject does."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """The most recently used values, up to `capacity`; older than `ttl_s` they are fetched anew. Safe for threads.

    >>> cache = Cache[str, int](2)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, capacity: int, ttl_s: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity: Final = capacity
        self._ttl_s: Final = ttl_s
        self._clock: Final = clock
        self._values: Final[OrderedDict[K, tuple[V, float]]] = OrderedDict()
        self._lock: Final = threading.Lock()

    def peek(self, key: K) -> V | None:
        """The value, if it is there and young enough."""
        with self._lock:
            found = self._values.get(key)
            if found is None or (self._ttl_s is not None and self._clock() - found[1] >= self._ttl_s):
                return None
            self._values.move_to_end(key)
            return found[0]

    def get(self, key: K, fetch: Callable[[], V]) -> V:
        """The value, fetched if need be. Two threads may fetch the same; no lock is held while they wait."""
        value = self.peek(key)
        if value is None:
            value = fetch()
            self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Keeps a value."""
        with self._lock:
            self._values[key] = (value, self._clock())
            self._values.move_to_end(key)
            while len(self._values) > self._capacity:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Drops all entries."""
        with self._lock:
            self._values.clear()
