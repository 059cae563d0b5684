"""A lock that a thread which comes back again and again, to flush or to append, cannot keep to itself.

Threads that may wait take it in a `with`, one after the other. The loop waits for none: it tries. A thread that wants
the loop to succeed reserves the lock first, which keeps the other threads from it and the loop not:

    flusher   |flush|       waits        |flush|
    upkeep       reserve ...|            |
    loop                       try, change

A thread that holds a reservation may wait for the loop. The loop therefore never waits for reservations, not even
where it takes the lock for good (`without_line`).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


class Turn:
    """A lock with reservations. It may be released on another thread than it was taken on."""

    __slots__ = ("_line", "without_line")

    def __init__(self) -> None:
        self._line = threading.Lock()
        """Held by the next one, while it waits."""
        self.without_line = threading.Lock()
        """The lock itself, for those who must not wait behind a reservation."""

    def acquire(self) -> None:
        """Waits for it."""
        with self._line:
            self.without_line.acquire()

    def try_acquire(self) -> bool:
        """Takes it if it is free, reserved or not."""
        return self.without_line.acquire(blocking=False)

    def release(self) -> None:
        """Gives it back."""
        self.without_line.release()

    @property
    def is_taken(self) -> bool:
        """Whether the lock is held; a reservation does not count."""
        return self.without_line.locked()

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Waits until it is free, and leaves it to `try_acquire` and `without_line` for as long as the block lasts."""
        with self._line:
            with self.without_line:
                pass
            yield

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
