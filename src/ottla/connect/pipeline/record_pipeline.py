"""The whole way of a record: from a topic's bytes to a sink task, or from a source task to a topic's bytes.

One `RecordPipeline` belongs to one task. What it returns says what is to be done with each record: put or produce it,
send a dead letter, or nothing. `ToleranceExceededError` is the end of the task; the record is not lost, since its
offset was not committed.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.converter.converter import Converter
from ottla.connect.converter.json_writer import WriteOption, writer
from ottla.connect.converter.plain import ByteArrayConverter, SimpleHeaderConverter, StringConverter
from ottla.connect.data.java_text import java_text
from ottla.connect.data.schema import Schema, SchemaAndValue
from ottla.connect.errors import DataError, trace
from ottla.connect.pipeline.column_pipeline import ColumnPipeline
from ottla.connect.pipeline.dead_letter import (
    ConsumerRecord,
    DeadLetter,
    Headers,
    ProducerRecord,
    TaskName,
    consumed_dead_letter,
    dead_letter,
)  # fmt: skip
from ottla.connect.pipeline.tolerance import ErrorOption, Failure, Pause, Stage, Tolerance, ToleranceExceededError
from ottla.connect.pipeline.transform_chain import TransformChain, prefixed
from ottla.connect.plugin import Plugins
from ottla.connect.record import Header, SinkRecord, SourceRecord

LOG: Final = logging.getLogger("org.apache.kafka.connect.runtime.errors.LogReporter")
_DEFAULT_HEADER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


@frozen
class Dropped:
    """A record without an output: a transform dropped it, or it failed, tolerated and without dead letters."""

    failure: Failure | None = None


@frozen
class _Converters:
    key: Converter
    value: Converter
    header: Converter


class RecordPipeline:
    """The converters and transforms of one task."""

    def __init__(self, task: TaskName, option: ErrorOption, tolerance: Tolerance, chain: TransformChain) -> None:
        self._task: Final = task
        self._option: Final = option
        self._tolerance: Final = tolerance
        self._chain: Final = chain
        self._converters: _Converters
        self.many: ColumnPipeline
        """The way of many records at once, where there is one."""

    @classmethod
    def of(
        cls, settings: Mapping[str, str], worker: Mapping[str, str], task_id: int, pause: Pause,
        plugins: Plugins | None = None,
    ) -> "RecordPipeline":  # fmt: skip
        """From the configurations of the connector and of its worker, their placeholders replaced."""
        found = plugins or Plugins()
        option = ErrorOption.of(settings)
        task = TaskName(settings.get("name", ""), task_id)
        made = cls(task, option, Tolerance(option, pause), TransformChain.of(settings, found))
        parts = [_converter(part, settings, worker, found) for part in ("key", "value", "header")]
        made._converters = _Converters(*parts)
        made.many = ColumnPipeline(made._chain, *parts)
        return made

    def sink(self, record: ConsumerRecord) -> SinkRecord | DeadLetter | Dropped:
        """Converts and transforms a record that was consumed."""
        try:
            found = self._read(record)
            if isinstance(found, SinkRecord):
                transformed = self._chain.apply(found, self._tolerance) if self._chain else found
                if transformed is None:
                    return Dropped()
                if not isinstance(transformed, Failure):
                    return transformed
                found = transformed
        except ToleranceExceededError as error:
            self._log(error.failure, _place(record))
            raise
        return self._give_up(record, found)

    def source(self, record: SourceRecord) -> ProducerRecord | DeadLetter | Dropped:
        """Transforms and converts a record that a source task polled."""
        try:
            transformed = self._chain.apply(record, self._tolerance) if self._chain else record
            if transformed is None:
                return Dropped()
            found = transformed if isinstance(transformed, Failure) else self._write(transformed)
        except ToleranceExceededError as error:
            self._log(error.failure, _source_place(record))
            raise
        return self._give_up_source(record, found) if isinstance(found, Failure) else found

    def passes(self, kind: ColumnKind) -> bool:
        """Whether the converters leave values of that kind, and missing keys, as they are."""
        made = self._converters
        if not self._chain.is_uniform or not _is_plain(made.value, kind):
            return False
        try:
            return made.key.from_connect("", None, None) is None
        except DataError:
            return False

    def columns(self, columns: SourceColumns) -> SourceColumns | Dropped | None:
        """Transforms columns of a kind that passes; None if each row has to be processed singly, for its own error.

        The transforms are applied to one record that stands for all.
        """
        if not self._chain:
            return columns
        one = SourceRecord(columns.source_partition, columns.source_offset, columns.topic)
        found = self._chain.apply(one, self._tolerance)
        if found is None:
            return Dropped()
        headers = found if isinstance(found, Failure) else self._headers(found)
        if isinstance(found, Failure) or isinstance(headers, Failure):
            return None
        return replace(columns, topic=found.topic, headers=headers)

    @property
    def reads_texts(self) -> bool:
        """Whether values are the bytes of their text, and keys and headers cannot fail."""
        made = self._converters
        return (
            not self._chain
            and _is_plain(made.value, ColumnKind.STRING)
            and type(made.key) in (StringConverter, ByteArrayConverter)
            and type(made.header) in (SimpleHeaderConverter, StringConverter, ByteArrayConverter)
        )

    def passes_keys(self, kind: ColumnKind) -> bool:
        """Whether the converter leaves keys of that kind as they are."""
        return _is_plain(self._converters.key, kind)

    def undeliverable(self, record: SourceRecord, error: BaseException) -> DeadLetter | Dropped:
        """Handles a record that no broker accepts, such as one that is too large."""
        failure = Failure(Stage.KAFKA_PRODUCE, type(self).__qualname__, error)
        self._check_tolerated(failure, _source_place(record))
        return self._give_up_source(record, failure)

    def report(self, record: ConsumerRecord, error: BaseException, class_name: str) -> DeadLetter | Dropped:
        """Handles a record that a sink task gave up."""
        failure = Failure(Stage.TASK_PUT, class_name, error)
        self._check_tolerated(failure, _place(record))
        return self._give_up(record, failure)

    def close(self) -> None:
        """Closes transforms and converters."""
        self._chain.close()
        for converter in (self._converters.key, self._converters.value, self._converters.header):
            converter.close()

    def _read(self, record: ConsumerRecord) -> SinkRecord | Failure:
        made = self._converters
        key: SchemaAndValue | Failure
        value: SchemaAndValue | Failure
        try:
            key = made.key.to_connect(record.topic, record.key)
        except Exception as error:  # noqa: BLE001 - as in Tolerance
            key = self._understood(Stage.KEY_CONVERTER, made.key, record, error)
        if isinstance(key, Failure):
            return key
        try:
            value = made.value.to_connect(record.topic, record.value)
        except Exception as error:  # noqa: BLE001 - as in Tolerance
            value = self._understood(Stage.VALUE_CONVERTER, made.value, record, error)
        if isinstance(value, Failure):
            return value
        if not record.headers:
            return _sink_record(record, key, value, ())
        headers = self._tolerance.run(Stage.HEADER_CONVERTER, made.header.java_name, lambda: self._read_headers(record))
        return headers if isinstance(headers, Failure) else _sink_record(record, key, value, headers)

    def _understood(
        self, stage: Stage, converter: Converter, record: ConsumerRecord, error: Exception
    ) -> SchemaAndValue | Failure:
        """Retries or tolerates the error of a key or value that could not be read."""
        data = record.key if stage is Stage.KEY_CONVERTER else record.value
        step = partial(converter.to_connect, record.topic, data)
        return self._tolerance.after(stage, converter.java_name, step, error)

    def _read_headers(self, record: ConsumerRecord) -> tuple[Header, ...]:
        read = self._converters.header.to_connect_header
        found = ((key, read(record.topic, key, data)) for key, data in record.headers)
        return tuple(Header(key, each.schema, each.value) for key, each in found)

    def _write(self, record: SourceRecord) -> ProducerRecord | Failure:
        made, topic = self._converters, record.topic
        headers = self._headers(record) if record.headers else ()
        if isinstance(headers, Failure):
            return headers
        key: bytes | Failure | None
        value: bytes | Failure | None
        try:
            key = made.key.from_connect(topic, record.key_schema, record.key)
        except Exception as error:  # noqa: BLE001 - as in Tolerance
            key = self._converted(Stage.KEY_CONVERTER, made.key, record, error)
        if isinstance(key, Failure):
            return key
        try:
            value = made.value.from_connect(topic, record.value_schema, record.value)
        except Exception as error:  # noqa: BLE001 - as in Tolerance
            value = self._converted(Stage.VALUE_CONVERTER, made.value, record, error)
        if isinstance(value, Failure):
            return value
        return ProducerRecord(topic, record.partition, key, value, headers, record.timestamp)

    def _converted(
        self, stage: Stage, converter: Converter, record: SourceRecord, error: Exception
    ) -> bytes | Failure | None:
        """Retries or tolerates the error of a key or value that could not be written."""
        is_key = stage is Stage.KEY_CONVERTER
        given = (record.key_schema, record.key) if is_key else (record.value_schema, record.value)
        return self._tolerance.after(
            stage, converter.java_name, lambda: converter.from_connect(record.topic, *given), error
        )

    def _headers(self, record: SourceRecord) -> Headers | Failure:
        try:
            return self._write_headers(record)
        except Exception as error:  # noqa: BLE001 - as in Tolerance
            name = self._converters.header.java_name
            return self._tolerance.after(Stage.HEADER_CONVERTER, name, lambda: self._write_headers(record), error)

    def _write_headers(self, record: SourceRecord) -> Headers:
        write, topic = self._converters.header.from_connect_header, record.topic
        return tuple([(each.key, write(topic, each.key, each.schema, each.value)) for each in record.headers])

    def _give_up(self, record: ConsumerRecord, failure: Failure) -> DeadLetter | Dropped:
        self._log(failure, _place(record))
        if not self._option.dead_letter_topic:
            return Dropped(failure)
        return consumed_dead_letter(record, failure, self._task, self._option)

    def _give_up_source(self, record: SourceRecord, failure: Failure) -> DeadLetter | Dropped:
        self._log(failure, _source_place(record))
        if not self._option.dead_letter_topic:
            return Dropped(failure)
        return dead_letter(self._salvaged(record), failure, self._task, self._option)

    def _salvaged(self, record: SourceRecord) -> ProducerRecord:
        key, value = (
            _salvage(*each) for each in ((record.key_schema, record.key), (record.value_schema, record.value))
        )
        return ProducerRecord(self._option.dead_letter_topic, None, key, value, (), record.timestamp)

    def _check_tolerated(self, failure: Failure, place: str) -> None:
        try:
            self._tolerance.failed(failure)
        except ToleranceExceededError:
            self._log(failure, place)
            raise

    def _log(self, failure: Failure, place: str) -> None:
        if self._option.logged:
            where = place if self._option.located else ""
            LOG.error(
                "Error encountered in task %s. Executing stage '%s' with class '%s'%s.\n%s",
                self._task, failure.stage.name, failure.class_name, where, trace(failure.error).rstrip(),
            )  # fmt: skip


def _place(record: ConsumerRecord) -> str:
    """A record's topic, partition and offset for the log, without its content."""
    moment = (
        "" if record.timestamp is None else f", timestamp={record.timestamp}, timestampType={record.timestamp_type}"
    )
    place = f"topic='{record.topic}', partition={record.partition}, offset={record.offset}{moment}"
    return f", where consumed record is {{{place}}}"


def _source_place(record: SourceRecord) -> str:
    return f", where source record is = {record.source_partition} {record.source_offset}"


def _is_plain(converter: Converter, kind: ColumnKind) -> bool:
    """Of the very classes: a subclass may do anything."""
    if kind is ColumnKind.BYTES:
        return type(converter) is ByteArrayConverter
    return type(converter) is StringConverter and converter.is_utf8


def _salvage(schema: Schema | None, value: object) -> bytes | None:
    """A value of which no converter could make bytes, as something to read."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    try:
        return writer(schema, WriteOption())(value).encode("utf-8", "replace")
    except DataError:
        return java_text(value, schema).encode("utf-8", "replace")


def _sink_record(
    record: ConsumerRecord, key: SchemaAndValue, value: SchemaAndValue, headers: tuple[Header, ...]
) -> SinkRecord:
    return SinkRecord(
        record.topic,
        record.partition,
        record.offset,
        key_schema=key.schema,
        key=key.value,
        value_schema=value.schema,
        value=value.value,
        timestamp=record.timestamp,
        timestamp_type=record.timestamp_type,
        headers=headers,
        read=record,
    )


def _converter(part: str, settings: Mapping[str, str], worker: Mapping[str, str], plugins: Plugins) -> Converter:
    """The connector's converter with the connector's options, or the worker's with the worker's."""
    name = f"{part}.converter"
    owner = settings if settings.get(name) else worker
    class_name = owner.get(name) or (_DEFAULT_HEADER if part == "header" else None)
    if class_name is None:
        raise DataError(f"Neither the connector nor the worker says which {name} to use")
    converter = plugins.header_converter(class_name) if part == "header" else plugins.converter(class_name)
    options = prefixed(owner, f"{name}.")
    options.pop("plugin.version", None)
    converter.configure(options, is_key=part == "key")
    return converter
