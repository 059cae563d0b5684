"""The two ends of a task: decoding what comes from topics, and encoding what goes to them."""

from collections.abc import Callable
from typing import Any, TypeAlias

from ottla.streams.engine.context import PRODUCTION_HANDLER, TaskState
from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.engine.extractor import (
    ConsumedRecord,
    TimestampExtractor,
    fail_on_invalid_timestamp,
    wallclock_timestamp,
)
from ottla.streams.engine.operator.operator import Operator
from ottla.streams.engine.store.spec import SerdeRole
from ottla.streams.engine.topology import SinkNode, SourceNode
from ottla.streams.errors import ProcessingError, RecordDecodeError, RecordEncodeError, StreamsError
from ottla.streams.record import Headers
from ottla.streams.serde import Serde


class Source(Operator):
    """Decodes records and finds their time."""

    def __init__(self, node: SourceNode, state: TaskState) -> None:
        self.node = node
        self._key = node.key_serde or state.default_serde(SerdeRole.KEY)
        self._value = node.value_serde or state.default_serde(SerdeRole.VALUE)
        self._extractor: TimestampExtractor | None = node.timestamp_extractor or state.configuration.get(
            "default.timestamp.extractor"
        )
        self._clock = state.host.wall_clock_ms

    @property
    def column_serdes(self) -> tuple[Serde[Any], Serde[Any]] | None:
        """The serdes of key and value, if records have their own times and no serde is missing."""
        if self._extractor is not None or self._key is None or self._value is None:
            return None
        return self._key, self._value

    def decoded(self, record: InputRecord) -> tuple[Any, Any]:
        """Key and value."""
        topic, headers = record.topic, record.headers
        return _decode(self._key, topic, headers, record.key), _decode(self._value, topic, headers, record.value)

    def time_of(self, record: InputRecord, pair: tuple[Any, Any], partition_time: int) -> int:
        """The record's time; negative: it is left out."""
        if self._extractor is None and record.timestamp >= 0:
            return record.timestamp
        if self._extractor is wallclock_timestamp:
            return self._clock()
        consumed = ConsumedRecord(
            record.topic, record.partition, record.offset, record.timestamp, *pair, record.headers
        )
        try:
            return (self._extractor or fail_on_invalid_timestamp)(consumed, partition_time)
        except StreamsError:
            raise
        except Exception as error:
            raise ProcessingError(
                f"the timestamp extractor failed on the record of {consumed.place}: {error!r}"
            ) from error


Write: TypeAlias = Callable[[bytes | None, bytes | None, int, Headers], None]
"""Takes key, value, timestamp and headers of a record for one topic, whose partition its key decides."""


class Sink(Operator):
    """Encodes records and writes them."""

    def __init__(self, node: SinkNode, state: TaskState, internal_topics: dict[str, str]) -> None:
        self._node = node
        self._state = state
        self._key = node.key_serde or state.default_serde(SerdeRole.KEY)
        self._value = node.value_serde or state.default_serde(SerdeRole.VALUE)
        topic = node.topic
        self._topic = internal_topics.get(topic, topic) if isinstance(topic, str) else None
        self._write: Write | None = None

    @property
    def topic(self) -> str | None:
        """The topic of all its records, if their keys alone decide the partition."""
        return self._topic if self._node.partitioner is None else None

    def write_to(self, write: Write) -> None:
        """Has records taken by a function instead of the host's `send`; for a sink with a `topic`."""
        self._write = write

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Writes a record; a negative time cannot be written."""
        topic = self._topic
        if topic is None:
            assert not isinstance(self._node.topic, str)
            topic = self._node.topic(key, value, self._state.metadata)
        if timestamp < 0:
            raise StreamsError(f"{self._node.name} cannot write a record with the negative timestamp {timestamp}")
        try:
            raw_key = _encode(self._key, topic, headers, key)
            raw_value = _encode(self._value, topic, headers, value)
        except StreamsError:
            raise
        except Exception as error:  # a user's serde may raise anything; the handler decides
            if self._state.resumes(PRODUCTION_HANDLER, self._node.name, error, timestamp):
                return
            raise RecordEncodeError(f"{self._node.name} cannot encode a record for {topic} ({error})") from error
        if self._write is not None:
            self._write(raw_key, raw_value, timestamp, headers)
            return
        partition = None
        if self._node.partitioner is not None:
            partition = self._node.partitioner(topic, key, value, self._state.host.partition_count(topic))
        self._state.host.send(OutputRecord(topic, raw_key, raw_value, timestamp, headers, partition))


def _decode(serde: Serde[Any] | None, topic: str, headers: Headers, data: bytes | None) -> Any:
    if data is None:
        return None
    if serde is None:
        raise RecordDecodeError(f"no serde for {topic}: name one with Consumed.with_, or set default.key.serde")
    return serde.deserialize(topic, headers, data)


def _encode(serde: Serde[Any] | None, topic: str, headers: Headers, value: Any) -> bytes | None:
    if value is None:
        return None
    if serde is None:
        raise RecordEncodeError(f"no serde for {topic}: name one with Produced.with_, or set default.key.serde")
    return serde.serialize(topic, headers, value)
