"""`format("ottla_streams")` at work: micro-batches by offsets, and one task for each partition number.

Task p has partition p of every topic, be there something to read or not, so that Spark's partition is Kafka's. Where a
punctuation asks for the clock, the offsets have one more entry, which counts its ticks: a batch comes with each.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadLimit

from ottla.client.record import TopicPartition
from ottla.pipelines.option.offset_json import PartitionOffsets, document_of, offsets_of
from ottla.pipelines.option.parse import parse_stream_read
from ottla.pipelines.short_error import short_errors, short_errors_of_rows
from ottla.pipelines.source.column import topic_schema
from ottla.pipelines.source.range_read import RangePartition
from ottla.pipelines.source.stream_reader import OttlaStreamReader
from ottla.pipelines.streams.arrow_feed import READ
from ottla.pipelines.streams.group_position import TICK
from ottla.pipelines.streams.option import APPLICATION, PARTITIONS, TICK_MS
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.streams.errors import StreamsError
from ottla.streams.host.kept_time import times_to_text

_Document = dict[str, dict[str, int]]


class StreamsReader(OttlaStreamReader):
    """Plans micro-batches, and runs tasks."""

    def __init__(self, options: Mapping[str, str], plain: Mapping[str, str]) -> None:
        everything = topic_schema(has_headers=True)
        columns = type(everything)([everything[name] for name in READ])
        # The note that tells an application that has run from one that was reset.
        super().__init__(parse_stream_read(plain), columns, times_to_text({}))
        self._application: Final = options[APPLICATION]
        self._partition_numbers: Final = int(options[PARTITIONS])
        self._tick_ms: Final = int(options[TICK_MS])

    @short_errors
    def initialOffset(self) -> _Document:  # noqa: N802
        """Spark calls: where a query without a checkpoint begins."""
        return self._ticked(super().initialOffset(), 0)

    @short_errors
    def latestOffset(self, start: _Document, limit: ReadLimit) -> _Document:  # noqa: N802
        """Spark calls: where the next batch ends."""
        return self._ticked(
            super().latestOffset(_topics(start), limit), int(time.time() * 1000) // (self._tick_ms or 1)
        )

    @short_errors
    def partitions(self, start: _Document, end: _Document) -> list[InputPartition]:
        """Spark calls: the tasks of a batch, all of them."""
        if start == end:
            return []
        ranges = [
            found for found in super().partitions(_topics(start), _topics(end)) if isinstance(found, RangePartition)
        ]
        started, ended = offsets_of(start), offsets_of(end)
        self._check_partitions(ended)
        begins = {found.range.partition: found.range.start for found in ranges}
        return [self._task(number, ranges, (started | begins, ended)) for number in range(self._partition_numbers)]

    @short_errors_of_rows
    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Spark calls, on an executor: does all the work of one partition number, and gives a row for each record.

        The rows are empty. They are there to be counted: in Spark's progress and on its pages.
        """
        if not isinstance(partition, TaskPartition):
            return
        from ottla.pipelines.streams.output_column import counted_rows
        from ottla.pipelines.streams.shipment import unpacked
        from ottla.pipelines.streams.task_run import TaskRun

        yield from counted_rows(TaskRun(unpacked(self._application), self._options).run(partition))

    @short_errors
    def commit(self, end: _Document) -> None:
        """Spark calls, long after a batch has finished."""
        super().commit(_topics(end))

    def _check_partitions(self, ended: PartitionOffsets) -> None:
        """A partition that no task has would be left out without a word."""
        for place in sorted(ended):
            if place.partition >= self._partition_numbers:
                raise StreamsError(f"{place} is new: the application has to start again to see it")

    def _task(
        self, number: int, ranges: list[RangePartition], offsets: tuple[PartitionOffsets, PartitionOffsets]
    ) -> TaskPartition:
        own = [found for found in ranges if found.range.partition.partition == number]
        started, ended = offsets
        places = [place for place in ended if place.partition == number or place.topic == TICK]
        start = {place.topic: started.get(place, ended[place]) for place in places}
        return TaskPartition(number, own, (start, {place.topic: ended[place] for place in places}))

    def _ticked(self, document: _Document, tick: int) -> _Document:
        return {**document, TICK: {"0": tick}} if self._tick_ms else document


def _topics(document: _Document) -> _Document:
    """The document without the clock."""
    offsets = {place: offset for place, offset in offsets_of(document).items() if place != TopicPartition(TICK, 0)}
    return document_of(offsets)
