"""The states of a shard along its log: what is decided, what is written, what is committed.

Records are replayed as they are decided and share one append with others of the same round. States are immutable, so
those that are written but not yet committed are kept as references, one for each batch: a failed append goes back to
the state before its batch, and reads see the one at the high watermark.

    end offset 10, high watermark 10; two commits → records 10 and 11, one append; end offset 12, both answers wait;
    high watermark 12 → both answers are due, and the state after them is the committed one.

No callback runs in here: those that are due go to `ready`, and the shard calls them once all is consistent.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from ottla.coordinator.ports import KeyValue, ShardLog, TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.append_error import seen_by_client
from ottla.coordinator.runtime.coordinator_result import DEFERRED, CoordinatorResult, Done, Settled
from ottla.coordinator.runtime.encoded_write import EncodedWrite
from ottla.coordinator.runtime.loading import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ottla.coordinator.runtime.machine import Machine
from ottla.coordinator.runtime.waiting import Answer, Call, Waiting
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ApiError, NotCoordinatorError

BATCH_OVERHEAD_BYTES: Final = 61
_RECORD_OVERHEAD_BYTES_MAX: Final = 32
"""Lengths, attributes and deltas of a record, at the most they can take."""
S = TypeVar("S")

_log = logging.getLogger(__name__)


class OpenBatch(Generic[S]):
    """Records that are replayed but not yet in the log; `state_before` is what a failed append goes back to."""

    __slots__ = ("answers", "bytes_max", "opened_ms", "records", "settlements", "size_bytes", "state_before")

    def __init__(self, state_before: S, opened_ms: int, answers: list[Answer], settlements: list[Settled]) -> None:
        self.state_before = state_before
        self.opened_ms = opened_ms
        self.answers = answers
        self.settlements = settlements
        self.records: list[KeyValue] = []
        self.size_bytes = BATCH_OVERHEAD_BYTES
        self.bytes_max: int | None = None
        """The log's limits for one batch; None until the first record is added to this one."""


def size_bytes_max(records: list[KeyValue]) -> int:
    """The most that records can take in a batch, short of its header."""
    total = _RECORD_OVERHEAD_BYTES_MAX * len(records)
    for key, value in records:
        total += len(key)
        if value is not None:
            total += len(value)
    return total


class Journal(Generic[S]):
    """A shard's state, and its way into the log."""

    def __init__(self, machine: Machine[S], log: ShardLog, ready: deque[Call], write_timeout_ms: int) -> None:
        self.state: S = machine.initial()
        self.committed_state: S = self.state
        self.end_offset = 0
        self.high_watermark = 0
        self.is_out_of_sync = False
        """Whether the log was found to hold what is not ours: the state must be made again."""
        self.open_batch: OpenBatch[S] | None = None
        """Records that wait for `append_open`."""
        self.waiting: Final = Waiting(ready, write_timeout_ms)
        self._machine: Final = machine
        self._log: Final = log
        self._ready: Final = ready
        self._uncommitted: deque[tuple[int, S]] = deque()
        self._is_appending = False

    def loaded(self, state: S, end_offset: int) -> None:
        """The state after the next batch of the log, whose end is `end_offset`.

        It counts as committed: nothing may be read before the high watermark has reached the end of what is loaded.
        """
        self.state = self.committed_state = state
        self.end_offset = end_offset

    def take(self, outcome: CoordinatorResult, done: Done, now_ms: int) -> None:
        """Replays an outcome's records and puts them into the open batch, with its answer."""
        records, response, settled, is_atomic = outcome
        if not records:
            self._wait(done, outcome, now_ms)
            return
        encode = self._machine.encode
        pairs = [encode(record) for record in records]
        size = size_bytes_max(pairs)
        if is_atomic or size + BATCH_OVERHEAD_BYTES <= self._log.batch_bytes_max:
            batch = self._add(records, pairs, size, now_ms)
        else:
            batch = self._add_in_parts(records, pairs, now_ms)
        if isinstance(batch, ApiError):
            self._lose(*_callbacks(done, outcome), batch)
            return
        if response is not DEFERRED:
            batch.answers.append((done, response))
        if settled is not None:
            batch.settlements.append(settled)

    def take_encoded(self, write: EncodedWrite[S], now_ms: int) -> None:
        """Appends records that are encoded already and need no decision; they go into one batch or none."""
        batch = self.open_batch
        if batch is not None and not self._fits(batch, write.size_bytes):
            lost = self.append_open()
            if lost is not None:
                self._ready.append((write, lost))
                return
            batch = None
        offset = self.end_offset if batch is None else self.end_offset + len(batch.records)
        state = write.replay(self.state, offset)
        if batch is None:
            batch = self.open_batch = OpenBatch(self.state, now_ms, [], [])
        self.state = state
        batch.records += write.records
        batch.size_bytes += write.size_bytes
        batch.answers.append((write, None))

    def take_transactional(
        self, outcome: CoordinatorResult, producer: TransactionalProducer, done: Done, now_ms: int
    ) -> None:
        """Appends an outcome's records in a transactional batch of their own; no batch may be open."""
        records = outcome.records
        if not records:
            self._wait(done, outcome, now_ms)
            return
        pairs = [self._machine.encode(record) for record in records]
        before = state = self.state
        for offset, record in enumerate(records, self.end_offset):
            state = self._machine.replay(state, record, offset, producer.producer_id, producer.producer_epoch)
        self.state = state
        answers, settlements = _callbacks(done, outcome)
        try:
            end_offset = self._append(partial(self._log.append, pairs, producer))
        except ApiError as error:
            self.state = before
            self._lose(answers, settlements, seen_by_client(error))
            return
        self._appended(end_offset, len(pairs), OpenBatch(before, now_ms, answers, settlements))

    def take_marker(self, marker: TransactionMarker, done: Done, now_ms: int) -> None:
        """Replays and appends the end of a transaction; no batch may be open. The log's error is passed on as it is."""
        before = self.state
        self.state = self._machine.replay_marker(
            before, marker.producer_id, marker.producer_epoch, committed=marker.committed
        )
        try:
            end_offset = self._append(partial(self._log.append_marker, marker))
        except ApiError as error:
            self.state = before
            self._ready.append((done, error))
            return
        self._appended(end_offset, 1, OpenBatch(before, now_ms, [(done, None)], []))

    def append_open(self) -> ApiError | None:
        """Appends the open batch; if the log refuses, the state goes back and the batch's operations have failed."""
        batch, self.open_batch = self.open_batch, None
        if batch is None:
            return None
        self._is_appending = True
        try:
            end_offset = self._log.append(batch.records, None)
        except ApiError as error:
            _log.warning("%d records were not written: %s", len(batch.records), error)
            self.state = batch.state_before
            lost = seen_by_client(error)
            self._lose(batch.answers, batch.settlements, lost)
            return lost
        finally:
            self._is_appending = False
        return self._appended(end_offset, len(batch.records), batch)

    def committed(self, high_watermark: int) -> None:
        """The high watermark has moved, maybe from within an append, before we know where those records are."""
        if high_watermark > self.high_watermark:
            self.high_watermark = high_watermark
            if not self._is_appending:
                self._advance()

    def fail(self, error: ApiError) -> None:
        """Drops all states; the writes that wait have failed."""
        batch, self.open_batch = self.open_batch, None
        self.waiting.fail(error)
        if batch is not None:
            self._lose(batch.answers, batch.settlements, error)
        self._uncommitted.clear()
        self.state = self.committed_state = self._machine.initial()

    def _add(
        self, records: Sequence[CoordinatorRecord], pairs: list[KeyValue], size: int, now_ms: int
    ) -> OpenBatch[S] | ApiError:
        """The batch that took the records; an error if the full one, on whose state they rest, was lost."""
        batch = self.open_batch
        if batch is not None and not self._fits(batch, size):
            lost = self.append_open()
            if lost is not None:
                return lost
            batch = None
        offset = self.end_offset if batch is None else self.end_offset + len(batch.records)
        state = self.state
        replay = self._machine.replay
        for record in records:
            state = replay(state, record, offset, NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
            offset += 1
        if batch is None:
            batch = self.open_batch = OpenBatch(self.state, now_ms, [], [])
        self.state = state
        batch.records += pairs
        batch.size_bytes += size
        return batch

    def _fits(self, batch: OpenBatch[S], size: int) -> bool:
        if batch.bytes_max is None:
            batch.bytes_max = self._log.batch_bytes_max
        return batch.size_bytes + size <= batch.bytes_max

    def _add_in_parts(
        self, records: Sequence[CoordinatorRecord], pairs: list[KeyValue], now_ms: int
    ) -> OpenBatch[S] | ApiError:
        """One record after the other, over as many batches as it takes."""
        batch: OpenBatch[S] | ApiError = NotCoordinatorError()
        for record, pair in zip(records, pairs, strict=True):
            batch = self._add((record,), [pair], size_bytes_max([pair]), now_ms)
            if isinstance(batch, ApiError):
                return batch
        return batch

    def _append(self, append: Callable[[], int]) -> int:
        self._is_appending = True
        try:
            return append()
        finally:
            self._is_appending = False

    def _appended(self, end_offset: int, count: int, batch: OpenBatch[S]) -> ApiError | None:
        expected = self.end_offset + count
        if end_offset != expected:
            # The log contains records that this shard did not write: the offsets in the state would be wrong.
            _log.error("The log ends at %d and not at %d as it should: it must be loaded again", end_offset, expected)
            self.is_out_of_sync = True
            lost = NotCoordinatorError()
            self._lose(batch.answers, batch.settlements, lost)
            return lost
        self.end_offset = end_offset
        if end_offset <= self.high_watermark:
            # With one replica it always is; those who waited before come first.
            self._uncommitted.clear()
            self.committed_state = self.state
            self.waiting.committed(self.high_watermark)
            self._give(batch.answers, batch.settlements)
        else:
            self._uncommitted.append((end_offset, self.state))
            self.waiting.add(end_offset, batch.opened_ms, batch.answers, batch.settlements)
            self._advance()
        return None

    def _advance(self) -> None:
        uncommitted, high_watermark = self._uncommitted, self.high_watermark
        while uncommitted and uncommitted[0][0] <= high_watermark:
            self.committed_state = uncommitted.popleft()[1]
        self.waiting.committed(high_watermark)

    def _wait(self, done: Done, outcome: CoordinatorResult, now_ms: int) -> None:
        """Answers an outcome without records once everything written before it is committed."""
        answers, settlements = _callbacks(done, outcome)
        if self.open_batch is not None:
            self.open_batch.answers += answers
            self.open_batch.settlements += settlements
        elif self.end_offset > self.high_watermark:
            self.waiting.add(self.end_offset, now_ms, answers, settlements)
        else:
            self._give(answers, settlements)

    def _give(self, answers: list[Answer], settlements: list[Settled]) -> None:
        if settlements:
            self._ready.extend([(settled, None) for settled in settlements])
        self._ready.extend(answers)

    def _lose(self, answers: list[Answer], settlements: list[Settled], error: ApiError) -> None:
        self._ready.extend([(settled, error) for settled in settlements])
        self._ready.extend([(done, error) for done, _ in answers])


def _callbacks(done: Callable[[Any], None], outcome: CoordinatorResult) -> tuple[list[Answer], list[Settled]]:
    answers: list[Answer] = [] if outcome.response is DEFERRED else [(done, outcome.response)]
    return answers, [] if outcome.settled is None else [outcome.settled]
