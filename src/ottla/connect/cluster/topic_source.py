"""`ottla.connect.TopicSourceConnector`: records of topics, of this cluster or another, as a source's.

Offsets are `{"topic", "partition"}` and `{"offset": next}`. A partition belongs to one task, which keeps its order;
the partition that a record goes to is the producer's choice. Where no offset is stored, a partition is read from its
beginning.
"""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.consumer.consumer import Consumer
from ottla.client.consumer.fetch.record import Record
from ottla.client.record import TopicPartition
from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance
from ottla.connect.config.validator import NON_EMPTY, NON_EMPTY_LIST
from ottla.connect.connector import Offset, Partition, Settings, SourceConnector, SourceContext, SourceTask
from ottla.connect.converter.converter import Converter
from ottla.connect.converter.plain import ByteArrayConverter
from ottla.connect.errors import ConnectError
from ottla.connect.pipeline.transform_chain import prefixed
from ottla.connect.plugin import Plugins
from ottla.connect.record import Header, SourceRecord

_BYTES: Final = "org.apache.kafka.connect.converters.ByteArrayConverter"
_SIMPLE: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_TOPIC: Final = "${topic}"
_POLL_S: Final = 0.2
_LOOK_S: Final = 30.0
"""How often to look for new partitions."""
NUMBER: Final = "ottla.task.number"
COUNT: Final = "ottla.task.count"


class TopicSourceConnector(SourceConnector):
    """From topics to topics."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("source.topics", ConfigType.LIST, REQUIRED, "The topics to read.", importance=Importance.HIGH,
                  validator=NON_EMPTY_LIST),
        ConfigKey("source.bootstrap.servers", ConfigType.STRING, REQUIRED, "The brokers to read from; `source.` goes "
                  "before every other setting of their consumer, too.", importance=Importance.HIGH,
                  validator=NON_EMPTY),
        ConfigKey("target.topic", ConfigType.STRING, "${topic}.out", "Where records go; ${topic} is where they came "
                  "from.", importance=Importance.HIGH, validator=NON_EMPTY),
        ConfigKey("source.key.converter", ConfigType.CLASS, _BYTES, "Reads keys."),
        ConfigKey("source.value.converter", ConfigType.CLASS, _BYTES, "Reads values."),
        ConfigKey("source.header.converter", ConfigType.CLASS, _SIMPLE, "Reads headers."),
    )  # fmt: skip

    def task_class(self) -> type[SourceTask]:
        """The task that reads."""
        return TopicSourceTask

    def task_configs(self, tasks_max: int) -> Sequence[Settings]:
        """Partitions are dealt out by their numbers."""
        return [{**self.settings, NUMBER: str(number), COUNT: str(tasks_max)} for number in range(tasks_max)]

    def alter_offsets(self, settings: Settings, offsets: Sequence[tuple[Partition, Offset | None]]) -> bool:
        """Refuses what is no place in a topic."""
        for partition, offset in offsets:
            if not isinstance(partition.get("topic"), str) or not _is_number(partition.get("partition")):
                raise ConnectError("Partition objects have the keys 'topic' (a string) and 'partition' (a number)")
            if offset is not None and not _is_number(offset.get("offset")):
                raise ConnectError("Offset objects are either null or have the key 'offset', a number from 0 on")
        return True


class TopicSourceTask(SourceTask):
    """Reads its share of the partitions."""

    def __init__(self) -> None:
        self._context: SourceContext
        self._consumer: Consumer | None = None
        self._topics: tuple[str, ...] = ()
        self._target = ""
        self._share = (0, 1)
        self._looked_s = float("-inf")
        self._has_interceptors = False
        self._has_headers = False
        """Whether the next records are to be polled as rows."""
        self._places: dict[tuple[str, int], dict[str, object]] = {}

    def start(self, context: SourceContext, settings: Settings) -> None:
        """Connects."""
        parsed = TopicSourceConnector.config_def.parse(settings)
        topics = parsed["source.topics"]
        assert isinstance(topics, tuple)
        self._context, self._topics, self._target = context, topics, str(parsed["target.topic"])
        self._share = int(settings.get(NUMBER, "0")), int(settings.get(COUNT, "1"))
        key, value, header = (_converter(part, parsed, settings) for part in ("key", "value", "header"))
        self._key, self._value, self._header = key, value, header
        given = {name: text for name, text in prefixed(settings, "source.").items() if name in CONSUMER_KEYS}
        own = {"auto.offset.reset": "earliest", "enable.auto.commit": "false", "max.poll.records": "2000"}
        given.pop("group.id", None)
        self._has_interceptors = bool(given.get("interceptor.classes"))
        self._consumer = Consumer({**own, **given})

    def poll(self) -> Sequence[SourceRecord]:
        """The next records."""
        consumer = self._consumer
        assert consumer is not None
        if time.monotonic() - self._looked_s >= _LOOK_S:
            self._look(consumer)
        return [self._record(record) for record in consumer.poll(_POLL_S)] if self._places else ()

    has_column_keys: ClassVar[bool] = True

    def column_kind(self) -> ColumnKind | None:
        """Bytes, as long as nothing converts them and no interceptor sees records."""
        is_plain = type(self._key) is type(self._value) is ByteArrayConverter
        return ColumnKind.BYTES if is_plain and not self._has_interceptors else None

    def poll_columns(self) -> SourceColumns | None:
        """The records of one fetch; None if they have headers, which have to be converted one by one."""
        consumer = self._consumer
        assert consumer is not None
        if self._has_headers or time.monotonic() - self._looked_s >= _LOOK_S or not self._places:
            self._has_headers = False
            return None
        found = consumer.poll_arrow(_POLL_S, ("topic", "partition", "offset", "timestamp", "key", "value", "headers"))
        if found is None or not found.num_rows:
            return None
        topic, partition, first = (found.column(name)[0].as_py() for name in ("topic", "partition", "offset"))
        if len(found.column("headers").flatten()):
            consumer.seek(TopicPartition(topic, partition), first)
            self._has_headers = True
            return None
        return SourceColumns(
            topic=self._target.replace(_TOPIC, topic),
            values=found.column("value"),
            keys=found.column("key"),
            timestamps=found.column("timestamp"),
            source_partition=self._places[topic, partition],
            source_offset={"offset": found.column("offset")[found.num_rows - 1].as_py() + 1},
        )

    def stop(self) -> None:
        """Ends the connection."""
        if self._consumer is not None:
            self._consumer.close()

    def _look(self, consumer: Consumer) -> None:
        """Takes partitions that are new, where they were left or from their beginning."""
        self._looked_s = time.monotonic()
        number, count = self._share
        there = consumer.list_topics()
        ours = [
            TopicPartition(topic, partition)
            for index, topic in enumerate(self._topics)
            if topic in there
            for partition in there[topic].partitions
            if (index + partition) % count == number
        ]
        fresh = [place for place in ours if place not in self._places]
        if not fresh:
            return
        positions = {place: consumer.position(place) for place in consumer.assignment()}
        for place in fresh:
            self._places[place] = {"topic": place.topic, "partition": place.partition}
            stored = (self._context.offset(self._places[place]) or {}).get("offset")
            if isinstance(stored, int):
                positions[place] = stored
        consumer.assign([TopicPartition(*place) for place in self._places])
        for place, offset in positions.items():
            consumer.seek(place, offset)
        unread = [place for place in fresh if place not in positions]
        if unread:
            consumer.seek_to_beginning(unread)

    def _record(self, record: Record) -> SourceRecord:
        topic = record.topic
        key, value = self._key.to_connect(topic, record.key), self._value.to_connect(topic, record.value)
        return SourceRecord(
            self._places[topic, record.partition],
            {"offset": record.offset + 1},
            self._target.replace(_TOPIC, topic),
            value.value,
            key=key.value,
            key_schema=key.schema,
            value_schema=value.schema,
            timestamp=record.timestamp if record.timestamp >= 0 else None,
            headers=self._headers(record) if record.headers else (),
        )

    def _headers(self, record: Record) -> tuple[Header, ...]:
        read = self._header.to_connect_header
        found = ((name, read(record.topic, name, data)) for name, data in record.headers)
        return tuple(Header(name, each.schema, each.value) for name, each in found)


def _converter(part: str, parsed: Mapping[str, object], settings: Settings) -> Converter:
    name = f"source.{part}.converter"
    plugins = Plugins()
    find = plugins.header_converter if part == "header" else plugins.converter
    made = find(str(parsed[name]))
    made.configure(prefixed(settings, f"{name}."), is_key=part == "key")
    return made


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
