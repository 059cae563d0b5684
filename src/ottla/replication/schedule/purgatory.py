"""Holds requests that wait for an event of a partition, or for their time-out.

An operation is watched under every key that may complete it, and leaves all of them before it completes: an idle
partition keeps nothing of a request that another one completed, and a request that its completion leads to cannot
complete it a second time.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, Protocol, TypeVar

from ottla.replication.schedule.timer_wheel import Timeout, TimerWheel

K = TypeVar("K", bound=Hashable)
C = TypeVar("C", bound=Hashable, contravariant=True)


class Operation(Protocol[C]):
    """A request that waits. One of `complete` and `expired` is called, once, unless the wait is given up."""

    def is_ready(self, key: C) -> bool:
        """Something happened to `key`: whether the request can be answered now."""
        ...

    def complete(self) -> None:
        """Answers the request."""
        ...

    def expired(self) -> None:
        """Its time ran out: answers the request with what there is."""
        ...


class _Watch(Generic[K]):
    """An operation, the keys it is watched under, and its time limit; nothing of them once it is over.

    Who may give it up keeps it, and with it everything that a request holds, its connection as well.
    """

    __slots__ = ("keys", "operation", "timeout")

    def __init__(self, operation: Operation[K], keys: tuple[K, ...]) -> None:
        self.operation: Operation[K] | None = operation
        self.keys = keys
        self.timeout: Timeout | None = None


class Purgatory(Generic[K]):
    """Waiting operations by key. Loop thread only."""

    __slots__ = ("_wheel", "watched")

    def __init__(self, wheel: TimerWheel) -> None:
        self._wheel = wheel
        self.watched: dict[K, dict[_Watch[K], None]] = {}
        """For `key in purgatory.watched`: callers on a hot path look before they call `check`."""

    def __len__(self) -> int:
        return len({watch for watches in self.watched.values() for watch in watches})

    def watch(self, operation: Operation[K], keys: Iterable[K], timeout_ms: int) -> Callable[[], None]:
        """Has an operation wait that cannot be completed just now; what is returned gives the wait up, if it lasts."""
        watch = _Watch(operation, tuple(dict.fromkeys(keys)))
        watched = self.watched
        for key in watch.keys:
            watches = watched.get(key)
            if watches is None:
                watched[key] = {watch: None}
            else:
                watches[watch] = None
        watch.timeout = self._wheel.add(timeout_ms, lambda: self._expire(watch))
        return lambda: self._forget(watch)

    def check(self, key: K) -> int:
        """Something happened to `key`: completes what it can, and answers how many those were."""
        watches = self.watched.get(key)
        if watches is None:
            return 0
        completed = 0
        for watch in list(watches):
            # Completing one may lead to a check of this key again, which completes others of the list.
            operation = watch.operation
            if operation is not None and watch in watches and operation.is_ready(key):
                self._forget(watch)
                operation.complete()
                completed += 1
        return completed

    def _expire(self, watch: _Watch[K]) -> None:
        operation = watch.operation
        self._forget(watch)
        if operation is not None:
            operation.expired()

    def _forget(self, watch: _Watch[K]) -> None:
        """Lets go of it; nothing the second time."""
        if watch.timeout is not None:
            watch.timeout.cancel()
            watch.timeout = None
        watch.operation = None
        watched = self.watched
        keys, watch.keys = watch.keys, ()
        for key in keys:
            watches = watched[key]
            del watches[watch]
            if not watches:
                del watched[key]
