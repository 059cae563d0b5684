"""Lines into records, and records into lines."""

import pytest

from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.record.console_formatter import make_formatter
from ottla.cli.kafka.record.console_line import LineReader, LineRecord
from ottla.client.consumer.fetch.record import Record
from ottla.client.errors import SerializationError
from ottla.protocol.coordinator_record import CoordinatorLog
from ottla.protocol.group_log.offset import OffsetCommitKey, OffsetCommitValue

PACKAGE = "org.apache.kafka.tools.consumer."
RECORD = Record("t", 1, 7, b"k", b"v", timestamp=5, headers=[("a", b"1"), ("b", None)])


@pytest.mark.parametrize(
    ("settings", "line", "expected"),
    [
        ({}, "a\tb", (None, b"a\tb", [])),
        ({"parse.key": "true"}, "a\tb\tc", (b"a", b"b\tc", [])),
        ({"parse.key": " TRUE ", "key.separator": "::"}, "a::b", (b"a", b"b", [])),
        ({"parse.headers": "true"}, "h:1,i:2\tv", (None, b"v", [("h", b"1"), ("i", b"2")])),
        ({"parse.headers": "true", "null.marker": "-"}, "-\tv", (None, b"v", [])),
        ({"parse.headers": "true", "null.marker": "-"}, "h:-,\t-", (None, None, [("h", None)])),
        ({"parse.headers": "true", "ignore.error": "true"}, "h\tv", (None, b"v", [("h", None)])),
        ({"parse.key": "true", "ignore.error": "true"}, "value", (None, b"value", [])),
    ],
)
def test_lines(settings: dict[str, str], line: str, expected: tuple[object, ...]) -> None:
    assert LineReader(settings).read(line) == LineRecord(*expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "line", "message"),
    [
        ({"parse.headers": "true"}, "v", "No headers delimiter found on line number 1: 'v'"),
        ({"parse.headers": "true"}, "h\tv", "No header key separator found in pair 'h' on line number 1"),
        ({"parse.headers": "true", "null.marker": "-"}, "-:1\tv", "Header keys should not be equal"),
    ],
)
def test_lines_that_lack_something(settings: dict[str, str], line: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        LineReader(settings).read(line)


def test_separators_must_differ() -> None:
    with pytest.raises(ToolError, match=r"headers\.separator and headers\.key\.separator may not be equal"):
        LineReader({"headers.separator": ":"})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, b"v\n"),
        ({"print.value": "false"}, b""),
        ({"print.timestamp": "true", "print.value": "false"}, b"CreateTime:5\n"),
        ({"print.headers": "true", "headers.separator": ";", "null.literal": "?"}, b"a:1;b:?\tv\n"),
        ({"print.key": "true", "key.separator": "="}, b"k=v\n"),
        ({"value.deserializer": "org.apache.kafka.common.serialization.StringDeserializer"}, b"v\n"),
    ],
)
def test_formats(settings: dict[str, str], expected: bytes) -> None:
    assert make_formatter(PACKAGE + "DefaultMessageFormatter", settings).format(RECORD) == expected


def test_a_value_that_a_deserializer_refuses() -> None:
    settings = {"value.deserializer": "org.apache.kafka.common.serialization.LongDeserializer"}
    formatter = make_formatter(PACKAGE + "DefaultMessageFormatter", settings)
    assert formatter.format(Record("t", 0, 0, None, bytes(7) + b"\x05")) == b"5\n"
    with pytest.raises(SerializationError):
        formatter.format(RECORD)


def test_offsets_are_shown_as_json() -> None:
    key = CoordinatorLog.encode_key(OffsetCommitKey(group="g", topic="t", partition=0))
    value = CoordinatorLog.encode_value(OffsetCommitValue(offset=4, metadata="", commit_timestamp=9), 3)
    formatter = make_formatter(PACKAGE + "OffsetsMessageFormatter", {})
    assert formatter.format(Record("t", 0, 0, key, value)) == (
        b'{"key":{"type":1,"data":{"group":"g","topic":"t","partition":0}},'
        b'"value":{"version":3,"data":{"offset":4,"leaderEpoch":-1,"metadata":"","commitTimestamp":9}}}'
    )
    assert formatter.format(Record("t", 0, 0, key, None)).endswith(b'"value":null}')
    assert make_formatter(PACKAGE + "GroupMetadataMessageFormatter", {}).format(Record("t", 0, 0, key, value)) == b""


def test_unknown_formatters() -> None:
    with pytest.raises(ToolError):
        make_formatter("com.example.Formatter", {})
