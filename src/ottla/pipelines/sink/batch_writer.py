"""`DataFrame.write.format("ottla")`: appends a data frame's rows to topics, each at least once.

A task that fails is run again by Spark, and what it wrote before is there twice; so it is with Spark's own connector.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ottla.base.frozen import frozen
from ottla.pipelines.option.parse import parse_batch_write
from ottla.pipelines.short_error import short_errors
from ottla.pipelines.sink.column import check_schema
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.formatted_row import FormattedRows
from ottla.pipelines.sink.worker_cluster import sink_settings

if TYPE_CHECKING:
    from pyarrow import RecordBatch


@frozen
class RowsWritten(WriterCommitMessage):
    """A task's message to the driver."""

    rows: int


class OttlaBatchWriter(DataSourceArrowWriter):
    """Spark makes one on the driver and sends it to every task."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        self._options = parse_batch_write(options)
        sink_settings(self._options.settings)
        self._formatted = FormattedRows(self._options.formats, schema)
        check_schema(self._formatted.raw_schema, self._options.topic)
        if overwrite:
            raise SinkError('a topic can\'t be overwritten: use mode("append")')

    @short_errors
    def write(self, iterator: "Iterator[RecordBatch]") -> RowsWritten:
        """On an executor: writes the rows of one of Spark's partitions."""
        from ottla.pipelines.sink.task_write import write_at_least_once

        return RowsWritten(write_at_least_once(self._options, self._formatted.write(iterator), _partition_id()))


def _partition_id() -> int:
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
