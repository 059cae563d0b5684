"""How consumed records are written: the formatters that `kafka-console-consumer --formatter` can name.

A formatter is made with the properties of `--formatter-property` and gives the bytes of one record. Field order of the
default one: time, partition, offset, delivery, epoch, headers, key, value; the last is followed by the line separator.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.record.schema_class import SCHEMA_FORMATTERS
from ottla.cli.kafka.removed import class_hint
from ottla.client.errors import SerializationError
from ottla.protocol.errors import DecodeError

if TYPE_CHECKING:
    from ottla.client.consumer.fetch.record import Record
    from ottla.protocol.coordinator_record import CoordinatorLog

_PACKAGE: Final = "org.apache.kafka.tools.consumer."
_ORDER: Final = ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value")
_FLOAT_BYTES: Final = 4
_TIMES: Final = ("CreateTime", "LogAppendTime")


class Formatter(Protocol):
    """Writes records."""

    def format(self, record: "Record") -> bytes:
        """The record's bytes; none for one that is not shown."""
        ...


class DefaultFormatter:
    """The fields that `print.<field>=true` asks for, the value alone by default."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._separator: Final = settings.get("key.separator", "\t").encode()
        self._line_end: Final = settings.get("line.separator", "\n").encode()
        self._headers_separator: Final = settings.get("headers.separator", ",").encode()
        self._null: Final = settings.get("null.literal", "null").encode()
        self._readers: Final = {part: _reader(settings, f"{part}.deserializer") for part in ("key", "value", "headers")}
        default = {"print.value": "true"}
        shown = [field for field in _ORDER if _is_true({**default, **settings}.get(f"print.{field}"))]
        self._fields: Final = [getattr(self, f"_{field}") for field in shown]
        # The common case without a detour: nothing but values that are written as they are.
        self._is_plain = shown == ["value"] and self._readers["value"] is None

    def format(self, record: "Record") -> bytes:
        """The chosen fields of a record."""
        if self._is_plain:
            value = record.value
            return (self._null if value is None else value) + self._line_end
        if not self._fields:
            return b""
        return self._separator.join([field(record) for field in self._fields]) + self._line_end

    def _timestamp(self, record: "Record") -> bytes:
        kind = record.timestamp_type
        return f"{_TIMES[kind]}:{record.timestamp}".encode() if kind in (0, 1) else b"NO_TIMESTAMP"

    def _partition(self, record: "Record") -> bytes:
        return b"Partition:%d" % record.partition

    def _offset(self, record: "Record") -> bytes:
        return b"Offset:%d" % record.offset

    def _delivery(self, record: "Record") -> bytes:
        return b"Delivery:NOT_PRESENT"

    def _epoch(self, record: "Record") -> bytes:
        # Kafka's tool loses the epoch on the way to its formatter, and scripts have seen nothing else.
        return b"Epoch:NOT_PRESENT"

    def _headers(self, record: "Record") -> bytes:
        parts = [name.encode() + b":" + self._shown("headers", record, value) for name, value in record.headers]
        return self._headers_separator.join(parts) if parts else b"NO_HEADERS"

    def _key(self, record: "Record") -> bytes:
        return self._shown("key", record, record.key)

    def _value(self, record: "Record") -> bytes:
        return self._shown("value", record, record.value)

    def _shown(self, part: str, record: "Record", data: bytes | None) -> bytes:
        there, read = self._null if data is None else data, self._readers[part]
        return there if read is None else _text(read(record.topic, record.headers, there), len(there)).encode()


class LoggingFormatter(DefaultFormatter):
    """The default formatter, with a log line for each record."""

    def format(self, record: "Record") -> bytes:
        """The chosen fields of a record."""
        import logging

        time = f"{_TIMES[record.timestamp_type]}:{record.timestamp}, " if record.timestamp_type in (0, 1) else ""
        key = "null " if record.key is None else f"{record.key.decode(errors='replace')}, "
        value = "null" if record.value is None else record.value.decode(errors="replace")
        logging.getLogger(__name__).info("%skey:%svalue:%s", time, key, value)
        return super().format(record)


class SchemaFormatter(DefaultFormatter):
    """Values with a registry as JSON, and keys too, unless they have a deserializer."""

    def __init__(self, kind: str, settings: Mapping[str, str]) -> None:
        from ottla.cli.kafka.record.schema_text import SchemaTexts

        super().__init__(settings)
        self._is_plain = False
        texts = SchemaTexts(kind, settings)
        for part in ("key", "value"):
            if self._readers[part] is None:
                self._readers[part] = texts.reader(is_key=part == "key")

    def _shown(self, part: str, record: "Record", data: bytes | None) -> bytes:
        return self._null if data is None else super()._shown(part, record, data)


class SilentFormatter:
    """Writes nothing."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        del settings

    def format(self, record: "Record") -> bytes:
        """Nothing."""
        del record
        return b""


class CoordinatorFormatter:
    """Records of an internal topic as JSON, one behind the other without a separator; `types` are those shown."""

    def __init__(self, log: "CoordinatorLog", types: Sequence[int] | None) -> None:
        self._log: Final = log
        self._types: Final = types

    def format(self, record: "Record") -> bytes:
        """Key and value, or nothing for a record of another type."""
        from ottla.cli.kafka.record.message_json import json_text, record_json

        if record.key is None:
            return b""
        type_id = int.from_bytes(record.key[:2], "big", signed=True)
        if type_id not in self._log.types or (self._types is not None and type_id not in self._types):
            return b""
        try:
            return json_text(record_json(self._log.decode(record.key, record.value))).encode()
        except DecodeError as error:
            raise ToolError(f"Could not read record at offset {record.offset} due to: {error}") from error


def _offsets(settings: Mapping[str, str]) -> Formatter:
    from ottla.protocol.group_log.log import GROUP_LOG

    del settings
    return CoordinatorFormatter(GROUP_LOG, (0, 1))


def _group_metadata(settings: Mapping[str, str]) -> Formatter:
    from ottla.protocol.group_log.log import GROUP_LOG

    del settings
    return CoordinatorFormatter(GROUP_LOG, (2,))


def _transaction_log(settings: Mapping[str, str]) -> Formatter:
    from ottla.protocol.transaction_log import TRANSACTION_LOG

    del settings
    return CoordinatorFormatter(TRANSACTION_LOG, None)


def _share_group(settings: Mapping[str, str]) -> Formatter:
    from ottla.protocol.share_state_log import SHARE_STATE_LOG

    del settings
    return CoordinatorFormatter(SHARE_STATE_LOG, None)


_KNOWN: Final[Mapping[str, Callable[[Mapping[str, str]], Formatter]]] = {
    "DefaultMessageFormatter": DefaultFormatter,
    "LoggingMessageFormatter": LoggingFormatter,
    "NoOpMessageFormatter": SilentFormatter,
    "OffsetsMessageFormatter": _offsets,
    "GroupMetadataMessageFormatter": _group_metadata,
    "TransactionLogMessageFormatter": _transaction_log,
    "ShareGroupMessageFormatter": _share_group,
}
DEFAULT: Final = f"{_PACKAGE}DefaultMessageFormatter"


def make_formatter(name: str, settings: Mapping[str, str]) -> Formatter:
    """A formatter by Kafka's class name, or by `module:Class`; `ToolError` if there is none."""
    if name in SCHEMA_FORMATTERS:
        return SchemaFormatter(SCHEMA_FORMATTERS[name], settings)
    known = _KNOWN.get(name.removeprefix(_PACKAGE)) if name.startswith(_PACKAGE) else None
    if known is not None:
        return known(settings)
    module, colon, kind = name.partition(":")
    if not colon:
        raise ToolError("\n".join(filter(None, [name, class_hint(name)])))
    import importlib

    try:
        made: Formatter = getattr(importlib.import_module(module), kind)(settings)
    except (ImportError, AttributeError) as error:
        raise ToolError(f"{name}: {error}") from error
    return made


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() == "true"


def _reader(settings: Mapping[str, str], name: str) -> Callable[[str, Any, bytes], object] | None:
    """The deserializer that a property names."""
    if name not in settings:
        return None
    import importlib

    from ottla.client.serde.serializer import deserialize_of, known

    text = settings[name]
    place = known("Deserializer").get(text, text)
    module, colon, kind = str(place).partition(":")
    if not colon:
        raise ToolError(f"{text} is no deserializer")
    try:
        deserialize = deserialize_of(getattr(importlib.import_module(module), kind)())
    except (ImportError, AttributeError, TypeError) as error:
        raise ToolError(f"{text}: {error}") from error

    def read(topic: str, headers: Any, data: bytes) -> object:
        try:
            return deserialize(topic, headers, data)
        except (OttlaError, ValueError, TypeError) as error:
            raise SerializationError(f"{text} can't read {len(data)} bytes: {error}") from error

    return read


def _text(value: object, size: int) -> str:
    """What was made of so many bytes, as Java would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        from ottla.cli.kafka.output.java_number import double_text, float_text

        return float_text(value) if size == _FLOAT_BYTES else double_text(value)
    if isinstance(value, (bytes, bytearray)):
        return value.decode(errors="replace")
    return str(value)
