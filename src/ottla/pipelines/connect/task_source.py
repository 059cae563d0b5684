"""The Spark source whose partitions are tasks: a micro-batch gives each task a slot, for as long as it works.

Tasks know where they are by Kafka (offsets of sources, group offsets of sinks), so this source's own offset only counts
micro-batches; one that Spark repeats starts the tasks from what is stored.
"""

from collections.abc import Iterator
from typing import Any, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from ottla.pipelines.short_error import short_errors_of_rows


class TaskSource(DataSource):
    """`format("ottla-connect-task")`; options are the board's."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "ottla-connect-task"

    def schema(self) -> str:
        """One row for each time that a task had a slot: how many records it moved."""
        return "task int, records bigint"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Spark calls."""
        return TaskReader(dict(self.options))


class TaskPartition(InputPartition):
    """One task."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number: Final = number


class TaskReader(DataSourceStreamReader):
    """Plans a partition for each task, and attends to it."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options: Final = options

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Spark calls."""
        return {"shift": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        """Spark calls: there is always another shift."""
        return {"shift": start["shift"] + 1}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Spark calls: all tasks."""
        return [TaskPartition(number) for number in range(int(self._options["tasks"]))]

    @short_errors_of_rows
    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Spark calls, on an executor: until the task's shift is over."""
        from ottla.pipelines.connect.attendant import attend

        assert isinstance(partition, TaskPartition)
        yield (partition.number, attend(self._options["board"], self._options["token"], partition.number))
