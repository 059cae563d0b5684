"""A record on its way through Connect: what a source polled, or what a sink is to put.

Records are values: a transform makes a changed copy by `replace`.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

from ottla.base.frozen import frozen
from ottla.connect.data.java_text import java_text
from ottla.connect.data.schema import Schema


@frozen
class Header:
    """One header; a name may occur more than once."""

    key: str
    schema: Schema | None
    value: object


class ConnectRecord:
    """The base class of `SourceRecord` and `SinkRecord`."""

    __slots__ = ("headers", "key", "key_schema", "partition", "timestamp", "topic", "value", "value_schema")
    _NAMES: tuple[str, ...] = __slots__

    topic: str
    partition: int | None
    key_schema: Schema | None
    key: object
    value_schema: Schema | None
    value: object
    timestamp: int | None
    headers: tuple[Header, ...]

    def replace(self, **changes: Any) -> Self:
        """A copy with some attributes changed."""
        made = object.__new__(type(self))
        self._copy_to(made)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def _copy_to(self, made: Self) -> None:
        """Attribute by attribute: every transform of every record does it."""
        made.topic, made.partition, made.timestamp, made.headers = (
            self.topic, self.partition, self.timestamp, self.headers,
        )  # fmt: skip
        made.key_schema, made.key, made.value_schema, made.value = (
            self.key_schema, self.key, self.value_schema, self.value,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, name) == getattr(other, name) for name in self._NAMES)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._NAMES)})"


class SourceRecord(ConnectRecord):
    """A record for a topic, with the place in the source to go on from once it is stored.

    >>> SourceRecord({"filename": "a.txt"}, {"position": 12}, "lines", "hello").value
    'hello'
    """

    __slots__ = ("source_offset", "source_partition")
    _NAMES = (*ConnectRecord._NAMES, *__slots__)

    def __init__(
        self,
        source_partition: Mapping[str, object] | None,
        source_offset: Mapping[str, object] | None,
        topic: str,
        value: object = None,
        *,
        key: object = None,
        value_schema: Schema | None = None,
        key_schema: Schema | None = None,
        partition: int | None = None,
        timestamp: int | None = None,
        headers: tuple[Header, ...] = (),
    ) -> None:
        self.source_partition: Mapping[str, object] | None = source_partition
        self.source_offset: Mapping[str, object] | None = source_offset
        self.topic = topic
        self.partition = partition
        self.key_schema = key_schema
        self.key = key
        self.value_schema = value_schema
        self.value = value
        self.timestamp = timestamp
        self.headers = headers

    def _copy_to(self, made: Self) -> None:
        # Written out, without a call to what it extends: each transform copies each record.
        made.topic, made.partition, made.timestamp, made.headers = (
            self.topic, self.partition, self.timestamp, self.headers,
        )  # fmt: skip
        made.key_schema, made.key, made.value_schema, made.value = (
            self.key_schema, self.key, self.value_schema, self.value,
        )  # fmt: skip
        made.source_partition, made.source_offset = self.source_partition, self.source_offset


class SinkRecord(ConnectRecord):
    """A record of a topic, and where it stood before transforms moved it."""

    __slots__ = ("offset", "original_offset", "original_partition", "original_topic", "read", "timestamp_type")
    _NAMES = (*ConnectRecord._NAMES, *__slots__)

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        *,
        key_schema: Schema | None = None,
        key: object = None,
        value_schema: Schema | None = None,
        value: object = None,
        timestamp: int | None = None,
        timestamp_type: str = "CreateTime",
        headers: tuple[Header, ...] = (),
        read: object = None,
    ) -> None:
        self.topic = self.original_topic = topic
        self.partition = self.original_partition = partition
        self.offset = self.original_offset = offset
        self.key_schema = key_schema
        self.key = key
        self.value_schema = value_schema
        self.value = value
        self.timestamp = timestamp
        self.timestamp_type = timestamp_type
        self.headers = headers
        self.read = read
        """The record as it was read, for a dead letter; transforms leave it alone."""

    def _copy_to(self, made: Self) -> None:
        super()._copy_to(made)
        made.offset, made.timestamp_type, made.read = self.offset, self.timestamp_type, self.read
        made.original_topic, made.original_partition, made.original_offset = (
            self.original_topic, self.original_partition, self.original_offset,
        )  # fmt: skip


def record_text(record: ConnectRecord) -> str:
    """A record as Kafka's messages print it."""
    headers = [
        f"ConnectHeader(key={each.key}, value={java_text(each.value, each.schema)}, schema={each.schema or 'null'})"
        for each in record.headers
    ]
    parts = {
        "topic": f"'{record.topic}'",
        "kafkaPartition": java_text(record.partition),
        "key": java_text(record.key, record.key_schema),
        "keySchema": record.key_schema or "null",
        "value": java_text(record.value, record.value_schema),
        "valueSchema": record.value_schema or "null",
        "timestamp": java_text(record.timestamp),
        "headers": f"ConnectHeaders(headers={f'[{chr(44).join(headers)}]' if headers else ''})",
    }
    common = f"ConnectRecord{{{', '.join(f'{name}={value}' for name, value in parts.items())}}}"
    if isinstance(record, SourceRecord):
        partition, offset = java_text(record.source_partition), java_text(record.source_offset)
        return f"SourceRecord{{sourcePartition={partition}, sourceOffset={offset}}} {common}"
    if isinstance(record, SinkRecord):
        return (
            f"SinkRecord{{kafkaOffset={record.offset}, timestampType={record.timestamp_type}, "
            f"originalTopic={record.original_topic}, originalKafkaPartition={record.original_partition}, "
            f"originalKafkaOffset={record.original_offset}}} {common}"
        )
    return common


CLASS_NAMES: Final = {
    SourceRecord: "org.apache.kafka.connect.source.SourceRecord",
    SinkRecord: "org.apache.kafka.connect.sink.SinkRecord",
}
"""What Kafka calls them, for messages."""
