"""The thread of a log directory that writes what the loop must not wait for, in the order it came.

It is for appends to a disk that is not well; a disk that is well never sees it. Memory is bounded: beyond
`BYTES_MAX` appends are refused, which clients retry.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from ottla.storage.disk.pace import SLOW_SECONDS, DiskPace
from ottla.storage.errors import BusyDiskError, StorageError

BYTES_MAX: Final = 64 << 20

_log = logging.getLogger(__name__)

Write: TypeAlias = Callable[[], StorageError | None]
"""Runs on the thread, and may wait for the disk."""
WriteDone: TypeAlias = Callable[[StorageError | None], None]
"""Called where `post` calls, with what the write answered."""
Call: TypeAlias = Callable[[Callable[[], None]], None]


class _Queued(NamedTuple):
    write: Write
    done: WriteDone
    size_bytes: int


class AppendQueue:
    """The writes of one directory that wait for their turn. `submit` is for the loop."""

    def __init__(self, path: str, pace: DiskPace) -> None:
        self._path: Final = path
        self._pace: Final = pace
        self._lock: Final = threading.Lock()
        self._queued: deque[_Queued] = deque()
        self._is_running = False
        self._size_bytes = 0
        self._run_on_thread: Call | None = None
        self._post: Call | None = None

    def start(self, run_on_thread: Call, post: Call) -> None:
        """Has a thread to write with from now on. `post` brings a call back to the loop."""
        self._run_on_thread = run_on_thread
        self._post = post

    @property
    def is_started(self) -> bool:
        """Whether there is a thread."""
        return self._post is not None

    @property
    def size_bytes(self) -> int:
        """What waits to be written, or is being written."""
        return self._size_bytes

    def check_room(self, size_bytes: int) -> None:
        """Refuses more than may wait."""
        if self._size_bytes and self._size_bytes + size_bytes > BYTES_MAX:
            raise BusyDiskError(f"{self._size_bytes} bytes wait to be written already", self._path)

    def submit(self, write: Write, done: WriteDone, size_bytes: int) -> None:
        """Has something written after all that was submitted before."""
        assert self._run_on_thread is not None
        with self._lock:
            self._queued.append(_Queued(write, done, size_bytes))
            self._size_bytes += size_bytes
            is_first = not self._is_running
            self._is_running = True
        if is_first:
            self._run_on_thread(self._run)

    def finish_all(self) -> None:
        """Writes what is left when the thread has ended; on a thread that may wait."""
        self._run()

    def _run(self) -> None:
        while (queued := self._next()) is not None:
            problem = self._write(queued.write)
            with self._lock:
                self._size_bytes -= queued.size_bytes
            if self._post is not None:
                self._post(partial(queued.done, problem))

    def _next(self) -> _Queued | None:
        with self._lock:
            if self._queued:
                return self._queued.popleft()
            self._is_running = False
            return None

    def _write(self, write: Write) -> StorageError | None:
        with self._pace.under_way(SLOW_SECONDS):
            try:
                return write()
            except Exception as error:  # noqa: BLE001 - others' writes wait behind this one
                _log.exception("[%s] an append failed", self._path)
                return StorageError(f"an append failed: {error!r}", self._path)
