"""Records that differ in key, value, timestamp and offset alone, by columns.

`Transform.apply_columns` works on them. It is a way to go faster and nothing else: what it returns are the records that
`apply` would have made one by one, and if one of them is not for columns it raises, and all of them go as rows.
"""

from collections.abc import Sequence
from dataclasses import replace

from ottla.base.frozen import frozen
from ottla.connect.data.column import Column
from ottla.connect.record import ConnectRecord, Header, SinkRecord, SourceRecord


@frozen(kw_only=True)
class RecordColumns:
    """At least one record."""

    topic: str
    partition: int | None
    key: Column
    value: Column
    headers: tuple[Header, ...]
    """Those of every record."""
    timestamps: Sequence[int | None]
    offsets: Sequence[int] | None = None
    """Of a sink's records; None for a source's."""

    def __len__(self) -> int:
        return len(self.value)

    def one(self) -> ConnectRecord:
        """A record that stands for all where key, value, timestamp and offset don't matter."""
        if self.offsets is not None:
            return SinkRecord(self.topic, self.partition or 0, 0, headers=self.headers)
        return SourceRecord(None, None, self.topic, partition=self.partition, headers=self.headers)

    def like(self, record: ConnectRecord) -> "RecordColumns":
        """With the topic, partition and headers that this record has."""
        return replace(self, topic=record.topic, partition=record.partition, headers=record.headers)
