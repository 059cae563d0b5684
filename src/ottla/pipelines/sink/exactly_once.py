"""Writes every row of a micro-batch once for readers of `read_committed`, whatever dies in between.

task      each writes its rows in a transaction of its own and does not end it; the note "batch b of this partition
          is written" is part of the transaction
driver    when all tasks have finished: the decision for batch b, durable with all its transactions; then commits
          them, one by one
"""

import itertools
import logging
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import Any, Final

from pyspark.sql.datasource import WriterCommitMessage

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.producer.bulk.delivery import DeliveryTerms
from ottla.client.producer.bulk.sequence_number import SequenceNumbers
from ottla.client.producer.sequence import ProducerIdentity
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.pipelines.option.parse import WriteOptions
from ottla.pipelines.sink.decision_offset import DecisionOffsets
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.prepared_transaction import SinkQuery
from ottla.pipelines.sink.record_sender import RecordSender
from ottla.pipelines.sink.row_routing import RowRouting
from ottla.pipelines.sink.transaction import SinkTransaction
from ottla.pipelines.sink.worker_cluster import worker_cluster

_log = logging.getLogger(__name__)

GroupOffsets = tuple[str, Mapping[TopicPartition, OffsetAndMetadata]]
"""A group, and offsets to commit to it."""


def no_offsets() -> GroupOffsets | None:
    """A task that commits nothing but its rows."""
    return None


# A batch that Spark repeats meets one of these, whichever process died at whatever step:
#
# - no decision: tasks begin by taking their transactional ids over, which aborts what was left open, and write again;
# - a decision: tasks commit their part of it if that has not been done, and write nothing;
# - a decision whose transaction is gone, since no task came for longer than `transaction.timeout.ms` or a task that was
#   believed dead took its id over: if its note is there it was committed, otherwise its rows are written again. Spark
#   computes them from the same offsets; this one case relies on the query giving the same rows to the same partition.
#
# Once a task has its id no other process can commit a transaction of it, so looking at the note then is safe.


@frozen
class SinkTask:
    """Which part of which micro-batch is written."""

    query: SinkQuery
    batch_id: int
    partition_id: int


@frozen
class TaskPrepared(WriterCommitMessage):
    """A task's message to the driver."""

    task: SinkTask
    rows: int = 0
    transaction: ProducerIdentity | None = None
    """To be committed; None if there is nothing to do."""
    was_decided: bool = False
    """Whether the micro-batch had been decided before."""


class _Standing(Enum):
    """The result of an earlier run of the same task."""

    UNDECIDED = auto()
    FINISHED = auto()
    GONE = auto()
    """Decided, and then its transaction was ended: by its time-out, or by another task."""


class ExactlyOnceTask:
    """Prepares the rows of one task, on an executor."""

    def __init__(
        self, options: WriteOptions, task: SinkTask, offsets: Callable[[], GroupOffsets | None] = no_offsets
    ) -> None:
        """`offsets` is asked when all rows have been read: what it says is committed with them, or without any."""
        self._options: Final = options
        self._offsets: Final = offsets
        self._task: Final = task
        self._worker: Final = worker_cluster(options.settings)
        cluster, client = self._worker.cluster, self._worker.client
        self._log: Final = DecisionOffsets(cluster, client, task.query)
        self._id: Final = task.query.transactional_id(task.partition_id)
        self._transaction: Final = SinkTransaction(cluster, client, self._id)

    def write(self, batches: Iterable[Any]) -> TaskPrepared:
        """Writes the rows, unless that was done, and leaves the transaction open."""
        run = self._worker.thread.run
        standing = run(self._finish_decided())
        was_decided = standing is not _Standing.UNDECIDED
        nothing = TaskPrepared(self._task, was_decided=was_decided)
        if standing is _Standing.FINISHED:
            return nothing
        batches = iter(batches)
        first = next((batch for batch in batches if batch.num_rows), None)
        if (first is None and self._offsets() is None) or not run(self._begin()):
            return nothing
        try:
            rows = 0 if first is None else self._send(itertools.chain((first,), batches))
            run(self._mark_written())
        except BaseException:
            self._take_back()
            raise
        return TaskPrepared(self._task, rows, self._transaction.identity, was_decided)

    def settle(self) -> None:
        """Ends what earlier runs of the task have left open, so that all that they have written is committed or not."""
        self._worker.thread.run(self._settle())

    async def _settle(self) -> None:
        await self._finish_decided()
        await self._transaction.begin(self._worker.options.transaction_timeout_ms)

    async def _finish_decided(self) -> _Standing:
        """Commits what a run before this one had decided to commit."""
        task = self._task
        await self._log.prepare()
        decision = await self._log.decision((task.partition_id,))
        if decision.batch_id > task.batch_id:
            raise SinkError(_went_back(task, decision.batch_id))
        if decision.batch_id < task.batch_id:
            return _Standing.UNDECIDED
        identity = decision.transactions.get(task.partition_id)
        if identity is None:
            return _Standing.FINISHED
        cluster, client = self._worker.cluster, self._worker.client
        is_committed = await SinkTransaction(cluster, client, self._id, identity).commit()
        return _Standing.FINISHED if is_committed else _Standing.GONE

    async def _begin(self) -> bool:
        """Takes the transactional id over; whether there is anything to write."""
        await self._transaction.begin(self._worker.options.transaction_timeout_ms)
        written = await self._log.written(self._task.partition_id)
        if written > self._task.batch_id:
            raise SinkError(_went_back(self._task, written))
        return written < self._task.batch_id

    def _send(self, batches: Iterable[Any]) -> int:
        worker, transaction = self._worker, self._transaction
        enlist = transaction.enlist if worker.thread.run(transaction.needs_enlisting()) else None
        sender = RecordSender(worker, SequenceNumbers(transaction.identity), DeliveryTerms(self._id, enlist))
        return sender.write(batches, RowRouting(self._options.topic, worker.partition_count, self._task.partition_id))

    async def _mark_written(self) -> None:
        group = self._task.query.written_group(self._task.partition_id)
        timeout_ms = self._worker.options.max_block_ms
        await self._transaction.mark_written(group, self._task.batch_id, timeout_ms)
        offsets = self._offsets()
        if offsets is not None:
            await self._transaction.send_offsets(*offsets, timeout_ms)

    def _take_back(self) -> None:
        """Aborts at once, so that readers need not wait for the task's next run or for the time-out."""
        try:
            self._worker.thread.run(self._transaction.abort())
        except OttlaError as error:
            _log.warning("the transaction of %s stays open until it is taken over or times out: %s", self._id, error)


def _went_back(task: SinkTask, found: int) -> str:
    group = task.query.decision_group
    return (
        f"batch {task.batch_id} of query {task.query.query_id} comes again, though batch {found} is written already: "
        f"its checkpoint went back. Delete the groups whose names begin with {group!r} to write it again"
    )
