"""Single use: a consumer belongs to one thread or task at a time, and says so to the second one."""

import asyncio
import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from ottla.client.consumer.errors import ConcurrentModificationError
from ottla.client.errors import ClosedError


class Access:
    """A context around each call of a consumer; the owner may enter again, as listeners do.

    >>> access = Access()
    >>> with access:
    ...     with access:
    ...         pass
    """

    __slots__ = ("_depth", "_lock", "_owner", "is_closed")

    def __init__(self) -> None:
        self.is_closed = False
        self._lock: Final = threading.Lock()
        self._owner: object = None
        self._depth = 0

    def __enter__(self) -> None:
        caller = _caller()
        with self._lock:
            if self._owner is not None and self._owner != caller:
                raise ConcurrentModificationError(_described(self._owner))
            if self.is_closed:
                raise ClosedError("the consumer is closed")
            self._owner = caller
            self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = None


class ThreadAccess:
    """The same for threads: `with access.checked():` around each call, in which the owner may enter again.

    A lock of the interpreter's is what is entered and left, so that no signal handler that raises comes in between.

    >>> access = ThreadAccess()
    >>> with access.checked():
    ...     with access.checked():
    ...         pass
    """

    __slots__ = ("_last", "_lock", "is_closed")

    def __init__(self) -> None:
        self.is_closed = False
        self._lock: Final = threading.RLock()
        self._last = 0
        """The thread that was let in last; whether it still is, the lock knows."""

    @property
    def is_entered(self) -> bool:
        """Whether some thread is in there."""
        # `locked()` comes with Python 3.14; acquiring it, to see, might be interrupted before the release.
        return repr(self._lock).startswith("<locked")

    def checked(self) -> AbstractContextManager[object]:
        """What to enter; raises if another thread is in there, or the consumer is closed."""
        caller = threading.get_ident()
        if self._last != caller:
            if self.is_entered:
                raise ConcurrentModificationError(_described(self._last))
            self._last = caller
        if self.is_closed:
            raise ClosedError("the consumer is closed")
        return self._lock


def _caller() -> object:
    """The running task, else the thread."""
    if asyncio._get_running_loop() is not None:
        task = asyncio.current_task()
        if task is not None:
            return task
    return threading.get_ident()


def _described(owner: object) -> str:
    if isinstance(owner, asyncio.Task):
        return f"the task {owner.get_name()}"
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return f"the thread {names.get(owner if isinstance(owner, int) else None, owner)}"
