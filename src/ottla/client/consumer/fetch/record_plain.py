"""Records as users get them, and the loop that makes them from a batch's section; `_record` is the same, compiled.

`RecordReader` is a place in one batch: `take` goes on where it left off, so that a batch of 10,000 records can be
handed out 500 at a time without being read twice. A record that a deserializer refuses stays where it is: to go
on, seek past it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ottla.base.buffer import Buffer
from ottla.client.consumer.errors import RecordDeserializationError
from ottla.protocol.records import frames_plain
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.record import Header
from ottla.protocol.records.timestamp import TimestampType

TIMESTAMP_TYPES: Final = (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)

Read: TypeAlias = Callable[[str, Sequence[Header], bytes | None], Any]
"""`Deserializer.deserialize`: topic, headers, bytes."""


class RecordSource(NamedTuple):
    """The partition of records, and the functions that decode keys and values; None leaves them bytes."""

    topic: str
    partition: int
    read_key: Read | None = None
    read_value: Read | None = None


class Record:
    """One record as it was consumed; key and value are bytes unless a deserializer made them something else.

    >>> Record("orders", 0, 7, b"k", b"v", headers=[("trace", b"1")]).headers
    (('trace', b'1'),)
    """

    __slots__ = (
        "headers",
        "key",
        "leader_epoch",
        "offset",
        "partition",
        "timestamp",
        "timestamp_type",
        "topic",
        "value",
    )

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        key: Any = None,
        value: Any = None,
        *,
        timestamp: int = -1,
        timestamp_type: int = 0,
        headers: Iterable[Header] = (),
        leader_epoch: int | None = None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.key = key
        self.value = value
        self.timestamp = timestamp
        """Milliseconds since 1970; -1 for none."""
        self.timestamp_type: TimestampType = TIMESTAMP_TYPES[timestamp_type]
        self.headers: tuple[Header, ...] = tuple(headers)
        self.leader_epoch = leader_epoch

    def __repr__(self) -> str:
        return described(self)

    def __eq__(self, other: object) -> bool:
        return fields(self) == fields(other) if isinstance(other, Record) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.topic, self.partition, self.offset))


class RecordReader:
    """The records of a batch, a few at a time. `data` is the batch's record section, decompressed."""

    def __init__(self, data: Buffer, batch: Batch, source: RecordSource) -> None:
        append_time = batch.log_append_time
        self._source = source
        self._left = batch.records_count
        self._epoch = batch.partition_leader_epoch if batch.partition_leader_epoch >= 0 else None
        self._type = 0 if append_time is None else 1
        self._frames = frames_plain.iterate(data, self._left, batch.base_offset, batch.base_timestamp, append_time)
        self._refused: frames_plain.RecordTuple | None = None

    @property
    def is_done(self) -> bool:
        """Whether all records have been read."""
        return self._left == 0

    def take(self, out: list[Record], records_max: int, from_offset: int) -> int:
        """Appends up to that many records from that offset on: the offset after the last, or `from_offset`."""
        taken = 0
        while self._left and taken < records_max:
            frame, self._refused = self._refused or next(self._frames), None
            if frame[0] >= from_offset:
                try:
                    out.append(self._build(frame))
                except RecordDeserializationError:
                    self._refused = frame
                    raise
                taken += 1
            self._left -= 1
        if not self._left:
            next(self._frames, None)  # refuses bytes after the last record
        return out[-1].offset + 1 if taken else from_offset

    def _build(self, frame: frames_plain.RecordTuple) -> Record:
        offset, timestamp, key, value, headers = frame
        topic, partition, read_key, read_value = self._source
        record = Record(
            topic,
            partition,
            offset,
            key,
            value,
            timestamp=timestamp,
            timestamp_type=self._type,
            headers=headers,
            leader_epoch=self._epoch,
        )
        try:
            if read_key is not None:
                record.key = read_key(topic, headers, key)
            if read_value is not None:
                record.value = read_value(topic, headers, value)
        except Exception as error:  # whatever a user's code raises is reported with the record's place
            raise refused(record) from error
        return record


def refused(record: Any) -> RecordDeserializationError:
    """The error for a record that a deserializer raised for."""
    return RecordDeserializationError(record.topic, record.partition, record.offset)


def fields(record: Any) -> tuple[Any, ...]:
    """All that a record says."""
    place = (record.topic, record.partition, record.offset, record.key, record.value)
    return (*place, record.timestamp, int(record.timestamp_type), record.headers, record.leader_epoch)


def described(record: Any) -> str:
    """The text of a record for `repr`."""
    return (
        f"Record(topic={record.topic!r}, partition={record.partition}, offset={record.offset}, key={record.key!r}, "
        f"value={record.value!r}, timestamp={record.timestamp}, headers={record.headers!r})"
    )
