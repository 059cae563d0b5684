"""Records as lines, as JSON and by templates."""

import json

import pytest

from ottla.cli.commands.records.consume_field import RecordView
from ottla.cli.commands.records.consume_format import json_render, line_render, template_render
from ottla.cli.commands.records.produce_line import LineForm, json_record
from ottla.cli.output.advice import CommandError
from ottla.cli.output.style import Style
from ottla.client.consumer.fetch.record import Record

PLAIN = Style(is_coloured=False)
TIME_MS = 1_700_000_000_000
ORDER = Record("orders", 2, 41, b"k", b'{"n": 1, "who": {"id": 7}}', timestamp=TIME_MS, headers=(("h", b"x"),))
BINARY = Record(
    "orders", 0, 8, b"\xff\xfe", b"a\x1b[2Jb", timestamp=TIME_MS, headers=(("raw", b"\x80"), ("none", None))
)
TOMBSTONE = Record("t", 0, 0, None, None, timestamp=5)


def test_a_line_has_time_place_key_value_and_headers() -> None:
    assert line_render(PLAIN, with_topic=True)(RecordView(ORDER)).endswith(
        '  orders-2@41  k  {"n": 1, "who": {"id": 7}}  h=x\n'
    )
    assert "  2@41  k  " in line_render(PLAIN, with_topic=False)(RecordView(ORDER))


def test_a_terminal_is_not_driven_by_records() -> None:
    terminal = Style(is_coloured=False, is_terminal=True)
    assert "\x1b" not in line_render(terminal, with_topic=False)(RecordView(BINARY))
    assert "\x1b" not in template_render("{value}", terminal)(RecordView(BINARY))
    assert "a\x1b[2Jb" in template_render("{value}", PLAIN)(RecordView(BINARY)), "a pipe gets what was written"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{key}={value.who.id}", "k=7\n"),
        (r"{value.who}\t{headers}\n", '{"id": 7}\th=x\n'),
        ("{{{offset}}} {partition} {headers.h}{headers.none}{value.absent}", "{41} 2 x\n"),
        (r"\\{key}\0", "\\k\0\n"),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert template_render(template, PLAIN)(RecordView(ORDER)) == text


def test_a_template_without_fields_is_refused() -> None:
    with pytest.raises(CommandError, match="has no field"):
        template_render("value", PLAIN)


@pytest.mark.parametrize("record", [ORDER, BINARY, TOMBSTONE])
def test_what_consume_prints_as_json_produce_writes_again(record: Record) -> None:
    line = json_render(RecordView(record))
    assert line.count("\n") == 1
    assert json.loads(line)["offset"] == record.offset
    read = json_record(line.encode(), LineForm())
    assert (read.key, read.value, read.headers) == (record.key, record.value, tuple(record.headers))
    assert read.timestamp_ms == record.timestamp
    assert read.partition is None, "another topic may have fewer partitions"
