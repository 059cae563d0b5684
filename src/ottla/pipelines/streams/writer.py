"""The write side of `format("ottla_streams")`: the sink, which commits the inputs' offsets with the rows.

Exactly once, rows of outputs and changelogs and the offsets of the group `application.id` are one transaction per
task. At least once, the source commits the offsets when the micro-batch has finished.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from ottla.pipelines.short_error import short_errors
from ottla.pipelines.sink.stream_writer import OttlaStreamWriter, sink_task
from ottla.pipelines.streams.position_row import PositionedRows

if TYPE_CHECKING:
    from pyarrow import RecordBatch


class StreamsWriter(OttlaStreamWriter):
    """The writer of one micro-batch."""

    @short_errors
    def write(self, iterator: "Iterator[RecordBatch]") -> WriterCommitMessage:
        """On an executor: writes what the tasks of one partition number have given out."""
        rows = PositionedRows(iterator)
        if not self._options.is_exactly_once:
            return super().write(iter(rows))
        from ottla.pipelines.sink.exactly_once import ExactlyOnceTask, GroupOffsets

        def offsets() -> GroupOffsets | None:
            position = rows.position
            return None if position is None else (position.group_id, position.offsets())

        written: Any = ExactlyOnceTask(self._options, sink_task(TaskContext.get(), self._options), offsets)
        message: WriterCommitMessage = written.write(iter(rows))
        return message
