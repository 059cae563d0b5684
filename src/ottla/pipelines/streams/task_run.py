"""What one task of Spark's does: the tasks of one partition number, from records to outputs, with their state.

It fetches, computes and writes in one process. The state is committed when all rows have been made, and the rows when
the state is: a task that dies at any step is run again, and its state is then before or after the batch. Either is
a place to start.
"""

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any, Final

from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.source.range_read import RangePartition, read_range, source_client
from ottla.pipelines.streams.arrow_feed import READ, ArrowFeed
from ottla.pipelines.streams.global_table import GlobalTables
from ottla.pipelines.streams.group_position import TICK, GroupPosition
from ottla.pipelines.streams.output_column import rows_of
from ottla.pipelines.streams.shipment import Shipment
from ottla.pipelines.streams.state_opening import StateOpening
from ottla.pipelines.streams.task_output import output_of
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.streams.host.batch_run import BatchRun, BatchTerms
from ottla.streams.state.local_state import Position, StateBatch, Times


class TaskRun:
    """Runs the tasks of one partition number over one micro-batch."""

    def __init__(self, shipment: Shipment, options: ReadOptions) -> None:
        self._shipment: Final = shipment
        self._options: Final = options
        self._times: Times = {}
        self._records = 0

    def run(self, task: TaskPartition) -> int:
        """Does everything; how many records were read, none if another run had done it."""
        if task.start == task.end:
            return 0
        output = output_of(self._shipment, task.number)
        if not output.begin(task):
            return 0
        opening = StateOpening(self._shipment, self._options, task, output)
        try:
            batch = opening.begin()
            if batch is not None:
                with closing(self._processed(task, batch)) as rows:
                    output.write(rows, lambda: GroupPosition(task.end, self._times))
        finally:
            opening.close()
        return self._records

    def _processed(self, task: TaskPartition, batch: StateBatch) -> Generator[Any]:
        """The rows as `pyarrow.RecordBatch`es; the state is committed behind the last one."""
        tables = GlobalTables(self._shipment, self._options)
        try:
            run = BatchRun(self._shipment.application, task.number, batch, self._terms(task, tables))
            feeds = {found.range.partition.topic: self._feed(found) for found in task.ranges}
            for outputs in run.outputs(feeds):
                yield from map(rows_of, outputs)
            self._times = run.times
            batch.commit(task.end, run.times)
        except BaseException:
            batch.abort()
            raise
        finally:
            tables.close()

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

    def _feed(self, found: RangePartition) -> ArrowFeed:
        return ArrowFeed(found.range.partition, self._counted(read_range(found, self._options, READ)))

    def _counted(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            self._records += batch.num_rows
            yield batch
