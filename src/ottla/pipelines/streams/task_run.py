"""What one task of Spark's does: the tasks of one partition number, from records to rows, with their state.

The state is committed when all rows but the last have been handed over; the last one tells the sink the position. A
task that dies at any step is run again: its state is then before or after the batch, and either is a place to start.
"""

import time
from collections.abc import Iterator
from typing import Any, Final

from pyspark import TaskContext

from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.source.range_read import RangePartition, read_range, source_client
from ottla.pipelines.streams.global_table import GlobalTables
from ottla.pipelines.streams.output_column import READ, records_of, rows_of
from ottla.pipelines.streams.position_row import POSITION, TICK, GroupPosition
from ottla.pipelines.streams.shipment import Shipment
from ottla.pipelines.streams.state_opening import StateOpening
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.host.batch_run import BatchRun, BatchTerms
from ottla.streams.state.local_state import Position, StateBatch, Times


class TaskRun:
    """Runs the tasks of one partition number over one micro-batch."""

    def __init__(self, shipment: Shipment, options: ReadOptions) -> None:
        self._shipment: Final = shipment
        self._options: Final = options

    def rows(self, task: TaskPartition) -> Iterator[Any]:
        """The rows as `pyarrow.RecordBatch`es; none where nothing is to be done."""
        if task.start == task.end:
            return
        opening = StateOpening(self._shipment, self._options, task, TaskContext.get())
        try:
            batch = opening.begin()
            if batch is None:
                # The state was restored, and is behind the batch already: so are the outputs.
                yield self._position(task, opening.times)
                return
            try:
                yield from self._processed(task, batch)
            except BaseException:
                # A reader may end in the middle: the sink wants no rows of a batch that it has written.
                batch.abort()
                raise
        finally:
            opening.close()

    def _processed(self, task: TaskPartition, batch: StateBatch) -> Iterator[Any]:
        tables = GlobalTables(self._shipment, self._options)
        try:
            run = BatchRun(self._shipment.application, task.number, batch, self._terms(task, tables))
            feeds = {found.range.partition.topic: self._feed(found) for found in task.ranges}
            for records in run.outputs(feeds):
                if records:
                    yield rows_of(records)
        finally:
            tables.close()
        batch.commit(task.end, run.times)
        yield self._position(task, run.times)

    def _terms(self, task: TaskPartition, tables: GlobalTables) -> BatchTerms:
        client = source_client(self._options)

        def partition_count(topic: str) -> int:
            wanted = client.cluster.topic(topic, timeout_ms=self._options.poll_timeout_ms)
            return len(client.thread.run(wanted).partitions)

        now_ms = self._now_ms(task.end)
        return BatchTerms(tables.stores(), lambda: now_ms, partition_count, self._shipment.tick_ms is not None)

    def _now_ms(self, end: Position) -> int:
        """The clock of the batch: the tick that it was made with, so that it is the same if the batch is repeated."""
        tick_ms = self._shipment.tick_ms
        return int(time.time() * 1000) if tick_ms is None else end[TICK] * tick_ms

    def _feed(self, found: RangePartition) -> Iterator[InputRecord]:
        return records_of(found.range.partition, read_range(found, self._options, READ))

    def _position(self, task: TaskPartition, times: Times) -> Any:
        group_id = self._shipment.application.application_id
        value = GroupPosition(group_id, task.number, task.end, times).encoded()
        return rows_of([OutputRecord(POSITION, None, value, 0)])
