"""The outputs of a batch as columns, topic by topic. The order of a topic's records is kept."""

from collections.abc import Iterator, Sequence
from typing import Final

from ottla.streams.engine.error_handler import OutputRecord
from ottla.streams.engine.store.spec import LoggedChange
from ottla.streams.record import Headers


class OutputColumns:
    """Records for one topic; `partition` is that of all of them, None leaves it to `partitions`, or to their keys."""

    def __init__(self, topic: str, partition: int | None = None) -> None:
        self.topic: Final = topic
        self.partition: Final = partition
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.timestamps: list[int] = []
        self.headers: list[Headers] = []
        self.partitions: dict[int, int] = {}
        """Of the records that have one of their own, by number."""

    def add(self, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers) -> None:
        """Takes a record."""
        self.keys.append(key)
        self.values.append(value)
        self.timestamps.append(timestamp)
        self.headers.append(headers)

    def add_record(self, record: OutputRecord) -> None:
        """Takes a record that may have a partition."""
        if record.partition is not None:
            self.partitions[len(self.keys)] = record.partition
        self.add(record.key, record.value, record.timestamp, record.headers)

    def add_change(self, change: LoggedChange) -> None:
        """Takes a store's change; a changelog has no negative times."""
        key, value, timestamp, headers = change
        self.keys.append(key)
        self.values.append(value)
        self.timestamps.append(max(0, timestamp))
        self.headers.append(headers)

    def __len__(self) -> int:
        return len(self.keys)

    def partition_column(self) -> Sequence[int | None]:
        """The partition of each record."""
        if self.partition is not None or not self.partitions:
            return [self.partition] * len(self.keys)
        return [self.partitions.get(number) for number in range(len(self.keys))]

    def records(self) -> Iterator[OutputRecord]:
        """The records one by one."""
        columns = zip(
            self.keys, self.values, self.timestamps, self.headers, self.partition_column(), strict=True
        )  # fmt: skip
        for key, value, timestamp, headers, partition in columns:
            yield OutputRecord(self.topic, key, value, timestamp, headers, partition)

    def taken(self) -> "OutputColumns":
        """Moves the records out; collecting begins anew."""
        found = OutputColumns(self.topic, self.partition)
        found.keys, self.keys = self.keys, []
        found.values, self.values = self.values, []
        found.timestamps, self.timestamps = self.timestamps, []
        found.headers, self.headers = self.headers, []
        found.partitions, self.partitions = self.partitions, {}
        return found
