"""One partition of an internal topic with the state machine on top of it.

An operation decides from the newest state; its records are written and replayed, and its answer goes out when they are
committed (see `journal`). Callbacks are called after the work of a call is done, when the shard is consistent, so they
may call the shard again; operations and the machine's replay must not.
"""

import logging
from collections import deque
from collections.abc import Callable, Hashable
from enum import Enum
from functools import partial
from typing import Any, Final, Generic, TypeVar

from ottla.coordinator.ports import ShardLog, TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.coordinator_result import Done, Operation
from ottla.coordinator.runtime.encoded_write import EncodedWrite
from ottla.coordinator.runtime.journal import Journal
from ottla.coordinator.runtime.loading import LoadError, LoadSummary, StoredBatch, StoredMarker
from ottla.coordinator.runtime.machine import Machine
from ottla.coordinator.runtime.timers import Timers
from ottla.coordinator.runtime.waiting import Call
from ottla.protocol.errors import (
    ApiError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    DecodeError,
    NotCoordinatorError,
)

S = TypeVar("S")
R = TypeVar("R")

_log = logging.getLogger(__name__)

WRITE_TIMEOUT_MS: Final = 5_000
"""How long an answer may wait for the high watermark, unless a coordinator's settings say so."""
TIMER_RETRY_MS: Final = 500
"""After how long a timer whose records could not be written runs again."""


class ShardStatus(Enum):
    """The life of a shard: LOADING, then ACTIVE; from either to FAILED; from anywhere to CLOSED."""

    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"
    CLOSED = "closed"


class Shard(Generic[S]):
    """A state machine on its log. Made when this broker becomes the partition's leader, closed when it no longer is."""

    def __init__(
        self,
        partition: int,
        machine: Machine[S],
        log: ShardLog,
        timers: Timers,
        *,
        write_timeout_ms: int = WRITE_TIMEOUT_MS,
    ) -> None:
        """`timers` are those that the machine sets."""
        self.partition: Final = partition
        self.machine: Final = machine
        self.timers: Final = timers
        self.status = ShardStatus.LOADING
        self.woken: Callable[[Shard[S]], None] = _ignore
        """Called when records wait for a `flush`, and when the shard has failed."""
        self._ready: deque[Call] = deque()
        self._journal = Journal(machine, log, self._ready, write_timeout_ms)
        self._loaded_end_offset = 0
        self._loaded_count = self._unknown_count = 0
        self._is_deciding = False
        self._is_delivering = False
        self._now_ms = 0

    @property
    def state(self) -> S:
        """The newest state, with what is not committed yet."""
        return self._journal.state

    @property
    def committed_state(self) -> S:
        """The state at the high watermark; `read` says from when on it may be looked at."""
        return self._journal.committed_state

    @property
    def end_offset(self) -> int:
        """The offset after the last record that was appended."""
        return self._journal.end_offset

    @property
    def high_watermark(self) -> int:
        """The offset before which everything is committed."""
        return self._journal.high_watermark

    @property
    def is_out_of_sync(self) -> bool:
        """Whether the shard failed because the log holds what is not its own: a new one should be loaded."""
        return self._journal.is_out_of_sync

    @property
    def next_ms(self) -> int | None:
        """The next time to call `poll`; None for never."""
        timer_ms, answer_ms = self.timers.next_ms, self._journal.waiting.next_ms
        if timer_ms is None or answer_ms is None:
            return timer_ms if answer_ms is None else answer_ms
        return min(timer_ms, answer_ms)

    def load(self, batch: StoredBatch | StoredMarker) -> None:
        """Replays the next batch of the log. `LoadError` if it can't be read, and then the shard has failed."""
        self._check_loading()
        state = self._journal.state
        if isinstance(batch, StoredMarker):
            self._loaded_count += 1
            state = self.machine.replay_marker(
                state, batch.producer_id, batch.producer_epoch, committed=batch.committed
            )
        else:
            state = self._replay_stored(state, batch)
        self._journal.loaded(state, batch.end_offset)

    def finish_load(self, log_end_offset: int, now_ms: int) -> LoadSummary:
        """The log was read up to its end: operations are welcome from now on.

        Reads of committed data still have to wait until the high watermark has reached that end: what the leader
        before us acknowledged is in there, and a read that comes too early would see committed offsets go back.
        """
        self._check_loading()
        self._journal.end_offset = self._loaded_end_offset = log_end_offset
        self._now_ms = now_ms
        self.status = ShardStatus.ACTIVE
        self.machine.loaded(self.state, now_ms)
        self._deliver()
        return LoadSummary(self._loaded_count, self._unknown_count)

    def unload(self) -> None:
        """This broker no longer leads the partition: all that waits is told NOT_COORDINATOR."""
        self._fail()
        self.status = ShardStatus.CLOSED
        self._deliver()

    def read(self, operation: Callable[[S], R]) -> R:
        """Runs a read on the committed state. Raises its refusal, or that this is not the coordinator."""
        if self.status is not ShardStatus.ACTIVE:
            raise self._unavailable()
        if self._journal.high_watermark < self._loaded_end_offset:
            raise CoordinatorLoadInProgressError
        return operation(self._journal.committed_state)

    def write(self, operation: Operation[S], done: Done, now_ms: int) -> None:
        """Runs `operation` on the newest state; `done` gets its response once all that it rests on is committed.

        What an operation without records has read may itself not be committed yet, so it waits just the same.
        """
        # Spelled out, and not through `_decide`: this is what nearly every request comes to.
        self._now_ms = now_ms
        if self.status is not ShardStatus.ACTIVE:
            done(self._unavailable())
            return
        journal = self._journal
        had_open_batch = journal.open_batch is not None
        self._is_deciding = True
        try:
            journal.take(operation(journal.state, now_ms), done, now_ms)
        except ApiError as refusal:
            self._ready.append((done, refusal))
        finally:
            self._is_deciding = False
        if not had_open_batch and journal.open_batch is not None:
            self.woken(self)
        if journal.is_out_of_sync:
            self._fail()
        if self._ready:
            self._deliver()

    def write_encoded(self, write: EncodedWrite[S], now_ms: int) -> None:
        """`write` for what was decided on the newest state just now, and is encoded; the shard must be active."""
        self._now_ms = now_ms
        journal = self._journal
        if journal.open_batch is None:
            # It opens one, and appends nothing that a caller could see.
            journal.take_encoded(write, now_ms)
            self.woken(self)
            return
        self._is_deciding = True
        try:
            journal.take_encoded(write, now_ms)
        finally:
            self._is_deciding = False
        if journal.is_out_of_sync:
            self._fail()
        if self._ready:
            self._deliver()

    def write_transactional(
        self, operation: Operation[S], producer: TransactionalProducer, done: Done, now_ms: int
    ) -> None:
        """Like `write`, with the records in a transactional batch of their own, appended at once.

        They count once `write_marker` says that the transaction was committed.
        """
        journal = self._journal

        def decide() -> None:
            self._append_open()
            journal.take_transactional(operation(journal.state, now_ms), producer, done, now_ms)

        self._decide(decide, done, now_ms)

    def write_marker(self, marker: TransactionMarker, done: Done, now_ms: int) -> None:
        """Ends a producer's transaction in this partition; `done` gets None, or the log's own error.

        That error is not translated for clients: it is the transaction coordinator who asks.
        """

        def decide() -> None:
            self._append_open()
            self._journal.take_marker(marker, done, now_ms)

        self._decide(decide, done, now_ms)

    def flush(self, now_ms: int) -> None:
        """Appends what operations have decided since the last time; call it at the end of a round."""
        self._now_ms = now_ms
        journal = self._journal
        if journal.open_batch is not None:
            journal.append_open()
            if journal.is_out_of_sync:
                self._fail()
            self._deliver()

    def committed(self, high_watermark: int) -> None:
        """The log's high watermark has moved; may be called from within an append."""
        self._journal.committed(high_watermark)
        if self._ready:
            self._deliver()

    def poll(self, now_ms: int) -> None:
        """Runs the timers that are due, and gives up answers that waited for too long."""
        self._now_ms = now_ms
        if self.status is not ShardStatus.ACTIVE:
            return
        self._journal.waiting.expire(now_ms, CoordinatorNotAvailableError())
        for key, operation in self.timers.due(now_ms):
            self.write(operation, partial(self._timer_ran, key, operation), now_ms)
        self._deliver()

    def _decide(self, decide: Callable[[], None], done: Done, now_ms: int) -> None:
        self._now_ms = now_ms
        if self.status is not ShardStatus.ACTIVE:
            done(self._unavailable())
            return
        self._is_deciding = True
        try:
            decide()
        except ApiError as refusal:
            self._ready.append((done, refusal))
        finally:
            self._is_deciding = False
        self._after_append()
        if self._ready:
            self._deliver()

    def _append_open(self) -> None:
        """Writes pending decisions first, so that the log has their order."""
        self._journal.append_open()
        if self._journal.is_out_of_sync:
            raise NotCoordinatorError

    def _after_append(self) -> None:
        if self._journal.is_out_of_sync:
            self._fail()

    def _timer_ran(self, key: Hashable, operation: Operation[S], result: object) -> None:
        """Repeats a timer's work that failed: the end of a session must survive a short failure of the log."""
        if isinstance(result, ApiError) and self.status is ShardStatus.ACTIVE:
            _log.info("[partition=%d] Timer %s failed and runs again: %s", self.partition, key, result)
            self.timers.set_if_absent(key, self._now_ms + TIMER_RETRY_MS, operation)

    def _replay_stored(self, state: S, batch: StoredBatch) -> S:
        _, records, producer_id, producer_epoch = batch
        decode, replay = self.machine.decode, self.machine.replay
        count, unknown, offset = 0, 0, -1
        try:
            for offset, key, value in records:
                count += 1
                record = decode(key, value)
                if record is None:
                    unknown += 1
                else:
                    state = replay(state, record, offset, producer_id, producer_epoch)
        except DecodeError as error:
            self._fail()
            self._deliver()
            raise LoadError(f"Record {offset} of partition {self.partition} can't be read: {error}") from error
        self._loaded_count += count
        self._unknown_count += unknown
        return state

    def _check_loading(self) -> None:
        if self.status is not ShardStatus.LOADING:
            raise LoadError(f"Partition {self.partition} is {self.status.value}, not loading")

    def _deliver(self) -> None:
        """Runs due timers, unless a caller further up the stack is about to."""
        if self._is_delivering or self._is_deciding:
            return
        self._is_delivering = True
        try:
            while self._ready:
                call, argument = self._ready.popleft()
                call(argument)
        finally:
            self._is_delivering = False

    def _fail(self) -> None:
        """Drops everything, and fails the requests that wait."""
        if self.status in (ShardStatus.LOADING, ShardStatus.ACTIVE):
            self.status = ShardStatus.FAILED
            self._journal.fail(NotCoordinatorError())
            self.timers.clear()
            # In its turn: soft state hears what became of its records before it is dropped.
            self._ready.append((_call, self.machine.unloaded))
            self.woken(self)

    def _unavailable(self) -> ApiError:
        return CoordinatorLoadInProgressError() if self.status is ShardStatus.LOADING else NotCoordinatorError()


def _ignore(_: Any) -> None:
    pass


def _call(function: Callable[[], None]) -> None:
    function()
