"""`DataFrame.writeStream.format("ottla")`: every micro-batch's rows to topics, at least once or exactly once.

Spark makes a writer on the driver for each micro-batch, sends it to the tasks, and calls `commit` or `abort` of it on
the driver. Only tasks are told the query's id, by a property that is not documented; they pass it on.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.parse import WriteOptions, parse_stream_write
from ottla.pipelines.short_error import short_errors
from ottla.pipelines.sink.batch_writer import RowsWritten
from ottla.pipelines.sink.column import check_schema
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.formatted_row import FormattedRows
from ottla.pipelines.sink.worker_cluster import is_idempotent, sink_settings

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from ottla.pipelines.sink.exactly_once import SinkTask, TaskPrepared

_QUERY_ID = "sql.streaming.queryId"
_BATCH_ID = "streaming.sql.batchId"


class OttlaStreamWriter(DataSourceStreamArrowWriter):
    """The writer of one micro-batch."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """`overwrite` is Spark's word for complete mode: all results are written again, as with Spark's connector."""
        self._options = parse_stream_write(options)
        settings = sink_settings(self._options.settings)
        if self._options.is_exactly_once and not is_idempotent(settings):
            raise OptionError(
                "exactlyOnce", "needs 'kafka.acks' all, 'kafka.enable.idempotence' true and 'kafka.retries' above 0"
            )
        self._formatted = FormattedRows(self._options.formats, schema)
        check_schema(self._formatted.raw_schema, self._options.topic)

    @short_errors
    def write(self, iterator: "Iterator[RecordBatch]") -> WriterCommitMessage:
        """On an executor: writes the rows of one of Spark's partitions."""
        context = TaskContext.get()
        if not self._options.is_exactly_once:
            from ottla.pipelines.sink.task_write import write_at_least_once

            partition_id = 0 if context is None else context.partitionId()
            return RowsWritten(write_at_least_once(self._options, self._formatted.write(iterator), partition_id))
        from ottla.pipelines.sink.exactly_once import ExactlyOnceTask

        return ExactlyOnceTask(self._options, sink_task(context, self._options)).write(self._formatted.write(iterator))

    @short_errors
    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """On the driver, when all tasks have finished."""
        prepared = _prepared(messages)
        if prepared:
            from ottla.pipelines.sink.batch_commit import BatchCommit

            BatchCommit(self._options, prepared[0].task.query, batchId).commit(prepared)

    @short_errors
    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """On the driver, when a task or the commit has failed."""
        prepared = _prepared(messages)
        if prepared:
            from ottla.pipelines.sink.batch_commit import BatchCommit

            BatchCommit(self._options, prepared[0].task.query, batchId).abort(prepared)


def sink_task(context: TaskContext | None, options: WriteOptions) -> "SinkTask":
    """Which part of which micro-batch the present task of Spark's is."""
    from ottla.pipelines.sink.exactly_once import SinkTask
    from ottla.pipelines.sink.prepared_transaction import SinkQuery

    query_id = None if context is None else context.getLocalProperty(_QUERY_ID)
    batch_id = None if context is None else context.getLocalProperty(_BATCH_ID)
    if context is None or query_id is None or batch_id is None:
        raise SinkError(f"exactlyOnce needs Spark's properties {_QUERY_ID} and {_BATCH_ID}, which are not there")
    return SinkTask(SinkQuery(options.transactional_id_prefix, query_id), int(batch_id), context.partitionId())


def _prepared(messages: Sequence[WriterCommitMessage | None]) -> "list[TaskPrepared]":
    """The messages of tasks in transactions; a failed task has none."""
    return [message for message in messages if message is not None and not isinstance(message, RowsWritten)]  # type: ignore[misc]
