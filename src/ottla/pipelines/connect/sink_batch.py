"""The batches that a sink task is given: rows, or a column of texts; kept until the task takes them. Pure."""

from collections.abc import Collection
from typing import Any, Protocol

from ottla.base.frozen import frozen
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.connect.connector import SinkTask
from ottla.connect.data.column import Column
from ottla.connect.record import SinkRecord

Behind = dict[TopicPartition, OffsetAndMetadata]


class SinkBatch(Protocol):
    """Some records, and the offsets behind them."""

    @property
    def behind(self) -> Behind:
        """The offsets that may be committed once the batch is put."""

    @property
    def count(self) -> int:
        """The number of records."""

    def put(self, task: SinkTask) -> None:
        """Gives them to the task."""

    def without(self, partitions: Collection[TopicPartition]) -> "SinkBatch":
        """The batch without the records of partitions that another task has now."""


@frozen
class RowBatch:
    """Records; none of them is still a call, since tasks that write by time look at their clock in it."""

    records: list[SinkRecord]
    behind: Behind

    @property
    def count(self) -> int:
        """As `SinkBatch`."""
        return len(self.records)

    def put(self, task: SinkTask) -> None:
        """As `SinkBatch`."""
        task.put(self.records)

    def without(self, partitions: Collection[TopicPartition]) -> "RowBatch":
        """As `SinkBatch`."""
        kept = [each for each in self.records if (each.original_topic, each.original_partition) not in partitions]
        return RowBatch(kept, {part: found for part, found in self.behind.items() if part not in partitions})


@frozen
class TextBatch:
    """Values of one partition."""

    place: TopicPartition
    values: Any
    behind: Behind

    @property
    def count(self) -> int:
        """As `SinkBatch`."""
        return len(self.values)

    def put(self, task: SinkTask) -> None:
        """As `SinkBatch`."""
        task.put_texts(self.values)

    def without(self, partitions: Collection[TopicPartition]) -> SinkBatch:
        """As `SinkBatch`."""
        return RowBatch([], {}) if self.place in partitions else self


@frozen
class ColumnBatch:
    """Values of one partition by their fields."""

    place: TopicPartition
    columns: list[Column]
    count: int
    """How many records were read for them."""
    behind: Behind

    def put(self, task: SinkTask) -> None:
        """As `SinkBatch`."""
        task.put_columns(self.columns)

    def without(self, partitions: Collection[TopicPartition]) -> SinkBatch:
        """As `SinkBatch`."""
        return RowBatch([], {}) if self.place in partitions else self
