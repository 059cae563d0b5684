"""The thread of a log directory that writes what the loop must not wait for, in the order it came.

It is for appends to a disk that is not well; a disk that is well never sees it. What waits for one log when its turn
comes is written together, and the loop hears of many writes at once: a write costs the two threads one change-over,
however many appends it carries. Memory is bounded: beyond `BYTES_MAX` appends are refused, which clients retry.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from ottla.storage.disk.pace import SLOW_SECONDS, DiskPace
from ottla.storage.errors import BusyDiskError, StorageError

BYTES_MAX: Final = 64 << 20
_TELL_SECONDS: Final = 0.002
"""The first write of a round is reported after this time, though the round is not over."""

_log = logging.getLogger(__name__)

Call: TypeAlias = Callable[[Callable[[], None]], None]


class Writes(NamedTuple):
    """The results of the first writes of a log's queue."""

    appends: int
    """How many they were; at least one."""
    error: StorageError | None
    """Why all of them failed."""


class LogWriter(Protocol):
    """Writes to one log."""

    def write(self, line: Sequence[Any]) -> Writes:
        """On the thread, which may wait for the disk: writes the first of a line, as many as may go together."""
        ...

    def written(self, writes: Writes) -> None:
        """Called where `post` calls, after each `write`."""
        ...


class _Line:
    """The writes that wait for one log."""

    __slots__ = ("size_bytes", "writes")

    def __init__(self) -> None:
        self.writes: list[Any] = []
        self.size_bytes = 0


class AppendQueue:
    """The writes of one directory that wait for their turn. `submit` is for the loop."""

    def __init__(self, path: str, pace: DiskPace) -> None:
        self._path: Final = path
        self._pace: Final = pace
        self._lock: Final = threading.Lock()
        self._lines: dict[LogWriter, _Line] = {}
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

    def on_loop(self, call: Callable[[], None]) -> None:
        """Brings a call to the loop, from any thread; there is nothing to bring before the start."""
        if self._post is not None:
            self._post(call)

    @property
    def size_bytes(self) -> int:
        """Writes that wait or are under way."""
        return self._size_bytes

    def check_room(self, size_bytes: int) -> None:
        """Refuses more than may wait."""
        if self._size_bytes and self._size_bytes + size_bytes > BYTES_MAX:
            raise BusyDiskError(f"{self._size_bytes} bytes wait to be written already", self._path)

    def submit(self, writer: LogWriter, write: object, size_bytes: int) -> None:
        """Has something written after all that was submitted for this log before."""
        assert self._run_on_thread is not None
        with self._lock:
            line = self._lines.get(writer)
            if line is None:
                line = self._lines[writer] = _Line()
            line.writes.append(write)
            line.size_bytes += size_bytes
            self._size_bytes += size_bytes
            is_first = not self._is_running
            self._is_running = True
        if is_first:
            self._run_on_thread(self._run)

    def finish_all(self) -> None:
        """Writes what is left when the thread has ended; on a thread that may wait."""
        self._run()

    def _run(self) -> None:
        while lines := self._take():
            done: list[Callable[[], None]] = []
            tell_at = time.monotonic() + _TELL_SECONDS
            for writer, line in lines.items():
                writes = line.writes
                while writes:
                    outcome = self._write(writer, writes)
                    writes = writes[outcome.appends :]
                    done.append(partial(writer.written, outcome))
                    if time.monotonic() >= tell_at:
                        self._tell(done)
                        done, tell_at = [], time.monotonic() + _TELL_SECONDS
                with self._lock:
                    self._size_bytes -= line.size_bytes
            self._tell(done)

    def _take(self) -> dict[LogWriter, _Line]:
        """All that waits; nothing ends the run."""
        with self._lock:
            lines, self._lines = self._lines, {}
            self._is_running = bool(lines)
            return lines

    def _write(self, writer: LogWriter, writes: Sequence[Any]) -> Writes:
        with self._pace.under_way(SLOW_SECONDS):
            try:
                return writer.write(writes)
            except Exception as error:  # noqa: BLE001 - others' writes wait behind this one
                _log.exception("[%s] an append failed", self._path)
                return Writes(len(writes), StorageError(f"an append failed: {error!r}", self._path))

    def _tell(self, done: Sequence[Callable[[], None]]) -> None:
        for call in done:
            self.on_loop(call)
