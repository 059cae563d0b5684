"""`kafka-console-producer`: sends the lines of the standard input to a topic. Flags, notes and exit codes are Kafka's.

A line that can't be taken apart ends the tool with 1, after what came before it was sent; a record that a broker
refuses is told of and costs nothing, as in Kafka.
"""

import io
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import (
    SERVERS,
    check_addresses,
    current_name,
    known_settings,
    merge,
    properties_in,
    properties_of,
)
from ottla.cli.kafka.argument.option import (
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    OptionValueError,
    ToolError,
)
from ottla.cli.kafka.record.schema_class import SCHEMA_READERS
from ottla.cli.kafka.removed import class_hint
from ottla.cli.kafka.session.tool_main import tool_main, with_any_java_class

if TYPE_CHECKING:
    from ottla.cli.kafka.record.console_line import LineReader
    from ottla.client import Producer, RecordMetadata

_NOTE: Final = "Warning: --{old} is deprecated and will be removed in a future version. Use --{new} instead."
_MEMORY_NOTE: Final = (
    "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. "
    "Use --batch-size instead."
)
_RENAMED: Final = (
    ("command-config", "producer.config"),
    ("command-property", "producer-property"),
    ("reader-property", "property"),
)
_LINE_READER: Final = "org.apache.kafka.tools.LineMessageReader"
_READER_HELP: Final = (
    "A property of the line reader: parse.key=false, parse.headers=false, ignore.error=false, key.separator=\\t, "
    "headers.delimiter=\\t, headers.separator=,, headers.key.separator=:, null.marker=. "
    "With headers and key a line reads h1:v1,h2:v2\\tkey\\tvalue."
)
_OWN_SETTINGS: Final = {
    "linger.ms": "timeout",
    "acks": "request-required-acks",
    "request.timeout.ms": "request-timeout-ms",
    "retries": "message-send-max-retries",
    "retry.backoff.ms": "retry-backoff-ms",
    "send.buffer.bytes": "socket-buffer-size",
    "buffer.memory": "max-memory-bytes",
    "batch.size": "batch-size",
    "metadata.max.age.ms": "metadata-expiry-ms",
    "max.block.ms": "max-block-ms",
}
_NUMBERS: Final = (*(name for name in _OWN_SETTINGS.values() if name != "request-required-acks"),
                   "max-partition-memory-bytes")  # fmt: skip

OPTIONS: Final = OptionTable(
    "This tool helps to read data from standard input and publish it to Kafka.",
    (
        SERVERS,
        COMMAND_CONFIG._replace(help="A properties file with settings of the producer."),
        Option("topic", "REQUIRED: the topic to send to.", "topic"),
        Option("sync", "Send one record after the other, and wait for each."),
        Option("compression-codec", "none, gzip, snappy, lz4 or zstd; gzip without a value.", "compression-codec",
               is_optional=True),
        Option("batch-size", "The setting batch.size.", "size", "Integer", default="16384"),
        Option("message-send-max-retries", "The setting retries.", "", "Integer", default="3"),
        Option("retry-backoff-ms", "The setting retry.backoff.ms.", "", "Long", default="100"),
        Option("timeout", "The setting linger.ms.", "timeout_ms", "Long", default="1000"),
        Option("request-required-acks", "The setting acks.", "request required acks", default="-1"),
        Option("request-timeout-ms", "The setting request.timeout.ms.", "request timeout ms", "Integer",
               default="1500"),
        Option("metadata-expiry-ms", "The setting metadata.max.age.ms.", "metadata expiration interval", "Long",
               default="300000"),
        Option("max-block-ms", "The setting max.block.ms.", "max block on send", "Long", default="60000"),
        Option("max-memory-bytes", "The setting buffer.memory.", "total memory in bytes", "Long", default="33554432"),
        Option("max-partition-memory-bytes", "(Deprecated) The same as --batch-size.", "memory in bytes per partition",
               "Integer", default="16384"),
        Option("line-reader", "What takes lines apart: Kafka's name of the line reader, or module:Class.",
               "reader_class", default=_LINE_READER),
        Option("socket-buffer-size", "The setting send.buffer.bytes.", "size", "Integer", default="102400"),
        Option("property", "(DEPRECATED) The same as --reader-property.", "prop"),
        Option("reader-property", _READER_HELP, "prop"),
        Option("reader-config", "A properties file for the line reader.", "config file"),
        Option("producer-property", "(DEPRECATED) The same as --command-property.", "producer_prop"),
        Option("command-property", "A setting of the producer, key=value.", "producer_prop"),
        Option("producer.config", "(DEPRECATED) The same as --command-config.", "config file"),
    ),
)  # fmt: skip


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    with OPTIONS.shown_for_errors():
        options = OPTIONS.parse(arguments)
        names = _names(options)
    for name in _NUMBERS:
        options.integer(name)
    try:
        reader = _reader(options, names["reader-property"])
        settings = _settings(options, names)
    except OptionValueError as error:
        with_any_java_class(error)
        return 1
    except ToolError as error:
        print(f"org.apache.kafka.common.KafkaException: {error}", file=sys.stderr)
        return 1
    return _produce(options, reader, settings)


def _names(options: ChosenOptions) -> dict[str, str]:
    """Which name of each renamed option was used."""
    options.require("topic")
    for new, old in _RENAMED:
        if options.has(new) and options.has(old):
            options.fail(f"Options --{new} and --{old} cannot be specified together.")
    order = ("command-property", "command-config", "reader-property")
    old_names = dict(_RENAMED)
    names = {new: current_name(options, new, old_names[new], _NOTE) for new in order}
    if options.has("max-partition-memory-bytes"):
        print(_MEMORY_NOTE)
    check_addresses(options)
    return names


def _reader(options: ChosenOptions, property_name: str) -> "LineReader":
    from ottla.cli.kafka.record.console_line import LineReader

    given = {**properties_in(options.text("reader-config")), **properties_of(options.texts(property_name))}
    name = options.required_text("line-reader")
    if name == _LINE_READER:
        return LineReader(given)
    if name in SCHEMA_READERS:
        from ottla.cli.kafka.record.schema_line import SchemaLineReader

        return SchemaLineReader(SCHEMA_READERS[name], given, options.required_text("topic"))
    return _custom_reader(name, {**given, "topic": options.required_text("topic")})


def _custom_reader(name: str, settings: Mapping[str, str]) -> "LineReader":
    """A reader of the user: a class that is made with the properties and has `read(line)`."""
    import importlib

    module, colon, kind = name.partition(":")
    if not colon:
        hint = f"the line reader is {_LINE_READER}, or a Python class written module:Class"
        raise ToolError(f"{name}: {class_hint(name) or hint}")
    try:
        made: LineReader = getattr(importlib.import_module(module), kind)(settings)
    except (ImportError, AttributeError) as error:
        raise ToolError(f"{name}: {error}") from error
    return made


def _settings(options: ChosenOptions, names: Mapping[str, str]) -> dict[str, object]:
    from ottla.client.config.producer import PRODUCER_KEYS

    settings = properties_in(options.text(names["command-config"]))
    settings.update(properties_of(options.texts(names["command-property"])))
    settings["bootstrap.servers"] = options.required_text("bootstrap-server")
    codec = options.text("compression-codec") or "gzip"
    settings["compression.type"] = codec if options.has("compression-codec") else "none"
    settings.setdefault("client.id", "console-producer")
    for key, name in _OWN_SETTINGS.items():
        merge(settings, key, options, name)
    if options.has("max-partition-memory-bytes"):
        merge(settings, "batch.size", options, "max-partition-memory-bytes")
    # Records are bytes here, whatever the file says.
    settings.pop("key.serializer", None)
    settings.pop("value.serializer", None)
    return known_settings(settings, PRODUCER_KEYS)


def _produce(options: ChosenOptions, reader: "LineReader", settings: Mapping[str, object]) -> int:
    from ottla.cli.kafka.argument.server_address import UnusableServersError, check_servers
    from ottla.cli.kafka.output.java_error import java_text
    from ottla.cli.kafka.session.client_start import patiently
    from ottla.client import Producer
    from ottla.client.errors import NoBrokersAvailableError

    topic, is_sync = options.required_text("topic"), options.has("sync")
    max_block_s = int(str(settings["max.block.ms"])) / 1000
    try:
        check_servers(str(settings["bootstrap.servers"]), "Failed to construct kafka producer")
        with patiently(lambda: Producer(settings), max_block_s) as producer:
            _send_lines(producer, topic, reader, is_sync=is_sync)
    except UnusableServersError as error:
        print(java_text(error), file=sys.stderr)
        return 1
    except ToolError as error:
        print(f"org.apache.kafka.common.KafkaException: {error}", file=sys.stderr)
        return 1
    except NoBrokersAvailableError as error:
        if not is_sync:
            _refuse_lines(topic, reader, error)
            return 0
        print(java_text(error), file=sys.stderr)
        return 1
    except OttlaError as error:
        print(java_text(error), file=sys.stderr)
        return 1
    return 0


def _refuse_lines(topic: str, reader: "LineReader", error: OttlaError) -> None:
    """Says of each line that it could not be sent; Kafka's tool goes on as well."""
    for line in _lines():
        record = reader.read(line)
        _Told(topic, record.key, record.value)(None, error)


def _send_lines(producer: "Producer", topic: str, reader: "LineReader", *, is_sync: bool) -> None:
    for line in _lines():
        record = reader.read(line)
        told = None if is_sync else _Told(topic, record.key, record.value)
        try:
            sent = producer.send(topic, record.value, record.key, headers=record.headers, on_delivery=told)
        except OttlaError as error:
            if told is None:
                raise
            # Kafka's producer reports what happens before a record is in the buffer in the same way.
            told(None, error)
            continue
        if is_sync:
            sent.result()


def _lines() -> Iterator[str]:
    """The lines of the input; on a terminal each is asked for."""
    is_asked = sys.stdin.isatty() and sys.stdout.isatty()
    text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace", newline=None)
    while True:
        if is_asked:
            print(">", end="", flush=True)
        line = text.readline()
        if not line:
            break
        yield line.removesuffix("\n")
    text.detach()


class _Told:
    """Says on the error output that a record was refused."""

    __slots__ = ("_key", "_topic", "_value")

    def __init__(self, topic: str, key: bytes | None, value: bytes | None) -> None:
        self._topic, self._key, self._value = topic, key, value

    def __call__(self, metadata: "RecordMetadata | None", error: BaseException | None) -> None:
        if error is None:
            return
        from ottla.cli.kafka.output.java_error import java_text, log_error

        log_error(
            f"Error when sending message to topic {self._topic} with key: {_size(self._key)}, "
            f"value: {_size(self._value)} with error:",
            "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback",
        )
        print(java_text(error) if isinstance(error, OttlaError) else str(error), file=sys.stderr)


def _size(part: bytes | None) -> str:
    return "null" if part is None else f"{len(part)} bytes"


if __name__ == "__main__":
    sys.exit(main())
