"""Checks batches ahead of their append, on threads: those that take long to decompress, or to compress anew.

The loop goes on meanwhile; the connection that sent the batches does not, so that a later batch cannot get ahead of an
earlier one. What a thread finds is carried to the append, which is made on the loop like any other and raises it where
its own check would have: order, sequence numbers and leadership are looked at then and not here.

Requests take turns, a batch at a time: one with 200 heavy batches delays another's batch by one of its own.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from ottla.base.clock import Clock
from ottla.net.request_memory import RequestMemory
from ottla.protocol.compression import CompressionType, is_costly
from ottla.protocol.errors import ApiError, UnknownServerError
from ottla.protocol.records.batch import CODEC_BITS, FLAGS_AT, HEADER_BYTES, Batch
from ottla.protocol.records.validation import Validated, validate
from ottla.replication.request.produce import AppendEntry
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.log.append_info import Checked
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition

_log = logging.getLogger(__name__)

_RECOMPRESSED_BYTES: Final = 1024
"""More than this is compressed anew on a thread."""
_WORKSPACE_BYTES: Final = 512 * 1024
"""Fits a processor's own memory, and most batches are read through in one piece."""

CheckDone: TypeAlias = Callable[[list[AppendEntry]], None]


class _Request:
    """The batches of one request: those that wait for their turn, and how many are not done."""

    __slots__ = ("done", "entries", "undone", "waiting")

    def __init__(self, entries: list[AppendEntry], waiting: "deque[tuple[int, Log]]", done: CheckDone) -> None:
        self.entries = entries
        self.waiting = waiting
        self.undone = len(waiting)
        self.done = done


class BatchChecks:
    """The threads and what waits for them. Loop thread only, but for what the threads do."""

    def __init__(
        self, logs: LogManager, clock: Clock, mailbox: Mailbox, threads: int, memory: RequestMemory | None = None
    ) -> None:
        """What waits here counts in `memory`, as requests do that are not handled yet."""
        self._memory: Final = RequestMemory(0) if memory is None else memory
        self._logs: Final = logs
        self._clock: Final = clock
        self._mailbox: Final = mailbox
        self._threads_max = threads
        self._threads: dict[int, threading.Thread] = {}
        self._changed: Final = threading.Condition()
        self._requests: deque[_Request] = deque()
        self._is_closed = False

    def begin(self, entries: Sequence[AppendEntry], done: CheckDone) -> bool:
        """Has the costly batches checked; False, with nothing done, if there are none.

        `done` gets all entries, on the loop, with copies of the records: the frame they came in is not kept.
        """
        costly = deque((at, log) for at, entry in enumerate(entries) if (log := self._costly(entry)) is not None)
        if not costly:
            return False
        kept = [entry._replace(records=bytearray(entry.records)) for entry in entries]
        size = sum(len(entry.records) for entry in kept)
        self._memory.claim(size)

        def finish(entries: list[AppendEntry]) -> None:
            self._memory.free(size)
            done(entries)

        self._submit(_Request(kept, costly, finish))
        return True

    def change_threads(self, threads: int) -> None:
        """Has that many threads at most; those beyond it end with the batch that they check."""
        with self._changed:
            self._threads_max = threads
            self._changed.notify_all()

    def close(self) -> None:
        """Forgets what waits, and returns when the threads have ended."""
        with self._changed:
            self._is_closed = True
            self._requests.clear()
            self._changed.notify_all()
        for thread in self._threads.values():
            thread.join()

    def _costly(self, entry: AppendEntry) -> Log | None:
        """The log of a batch that takes long to check; None for others, and where there is no log to append to."""
        records = entry.records
        codec = records[FLAGS_AT] & CODEC_BITS
        if not codec and len(records) <= _RECOMPRESSED_BYTES:
            return None
        log = self._logs.get(TopicPartition(entry.topic, entry.partition))
        if log is None or codec > CompressionType.ZSTD or len(records) > log.rules.max_message_bytes:
            return None
        if log.recompression is not None and len(records) > _RECOMPRESSED_BYTES:
            return log
        return log if is_costly(CompressionType(codec), memoryview(records)[HEADER_BYTES:]) else None

    def _submit(self, request: _Request) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify(len(request.waiting))
        for number in range(self._threads_max):
            thread = self._threads.get(number)
            if thread is None or not thread.is_alive():
                thread = threading.Thread(target=self._work, args=(number,), name=f"batch-check-{number}", daemon=True)
                self._threads[number] = thread
                thread.start()
                return

    def _work(self, number: int) -> None:
        workspace = bytearray(_WORKSPACE_BYTES)
        while True:
            with self._changed:
                while not self._requests and not self._is_closed and number < self._threads_max:
                    self._changed.wait()
                if self._is_closed or number >= self._threads_max:
                    return
                request = self._requests.popleft()
                at, log = request.waiting.popleft()
                if request.waiting:
                    self._requests.append(request)
            request.entries[at] = self._check(request.entries[at], log, workspace)
            with self._changed:
                request.undone -= 1
                is_done = not request.undone
            if is_done:
                self._mailbox.post(partial(request.done, request.entries))

    def _check(self, entry: AppendEntry, log: Log, workspace: bytearray) -> AppendEntry:
        rules, now_ms = log.rules, self._clock.now_ms()
        records, origin = entry.records, entry.options.origin
        outcome: Validated | ApiError
        try:
            batch = Batch(records)
            recompression = log.recompression
            if recompression is not None and recompression.wants(batch):
                records = recompression.apply(batch, rules, now_ms, origin)
                batch = Batch(records)
            outcome = validate(batch, rules, now_ms, origin, workspace)
        except ApiError as error:
            outcome = error
        except Exception:  # noqa: BLE001 - see below
            # The thread serves all clients: a mistake costs one answer and one line in the log.
            _log.exception("a batch for %s-%d could not be checked", entry.topic, entry.partition)
            outcome = UnknownServerError()
        options = replace(entry.options, checked=Checked(rules, outcome))
        return entry._replace(records=records, options=options)
