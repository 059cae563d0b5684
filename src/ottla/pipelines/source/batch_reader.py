"""`spark.read`: the ranges of offsets that a batch is, planned once, and read by tasks."""

from collections.abc import Iterator
from typing import Any, Final

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.offset_json import PartitionOffsets
from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.short_error import short_errors, short_errors_of_rows
from ottla.pipelines.source.bound_resolution import resolve
from ottla.pipelines.source.column import chosen_columns
from ottla.pipelines.source.data_loss import DataLoss
from ottla.pipelines.source.formatted_column import FormattedColumns
from ottla.pipelines.source.offset_range import OffsetRange, split
from ottla.pipelines.source.range_read import RangePartition, read_range
from ottla.pipelines.source.topic_catalog import TopicCatalog


class OttlaBatchReader(DataSourceReader):
    """Reads what lies between the starting and the ending offsets when the query is planned."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options: Final = options
        self._formatted: Final = FormattedColumns(options.formats, schema)
        self._columns: Final = chosen_columns(self._formatted.raw_schema)

    @short_errors
    def partitions(self) -> list[InputPartition]:
        """Spark calls, on the driver: the tasks."""
        catalog = TopicCatalog(self._options)
        try:
            return [RangePartition(each) for each in self._plan(catalog)]
        finally:
            catalog.close()

    @short_errors_of_rows
    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Spark calls, on an executor: the records of one task as Arrow batches."""
        return self._formatted.read(read_range(partition, self._options, self._columns))

    def _plan(self, catalog: TopicCatalog) -> list[OffsetRange]:
        options = self._options
        found = catalog.require_partitions()
        starts = resolve(options.start, found, catalog)
        ends = resolve(options.end, found, catalog)
        if options.end.offsets is not None:
            _check_ends(options, ends, catalog)
        ranges = []
        for partition in sorted(starts.keys() & ends.keys()):
            start, end = starts[partition], ends[partition]
            if start > end:
                _check_start(options, partition, (start, end))
            ranges.append(OffsetRange(partition, start, end, found[partition]))
        return split(ranges, options.splitting)


def _check_ends(options: ReadOptions, ends: PartitionOffsets, catalog: TopicCatalog) -> None:
    """An end that was given and is not there yet would have every task wait for it in vain."""
    latest = catalog.latest(ends)
    for partition, end in ends.items():
        if end > latest.get(partition, end):
            raise OptionError(options.end.option, f"{end} for {partition} is behind its end {latest[partition]}")


def _check_start(options: ReadOptions, partition: TopicPartition, found: tuple[int, int]) -> None:
    """A start behind the end: of times it means an empty range; an offset was there once, or never."""
    start, end = found
    if options.start.offsets is not None:
        DataLoss(options.fails_on_data_loss).report(
            f"{options.start.option} {start} for {partition} is behind its end {end}"
        )
