"""Lines become records."""

import pytest

from ottla.cli.commands.records.produce_line import LineError, LineForm, NewRecord, json_record, text_record


def test_a_line_is_a_value() -> None:
    assert text_record(b"a:b", LineForm()) == NewRecord(b"a:b")
    assert text_record(b"", LineForm()) == NewRecord(b"")


def test_a_separator_parts_key_and_value_at_its_first_place() -> None:
    assert text_record(b"k::a:b", LineForm(key_separator=b":"))[:2] == (b":a:b", b"k")
    with pytest.raises(LineError, match="no ':' in it"):
        text_record(b"value", LineForm(key_separator=b":"))


def test_null_headers_key_and_partition_for_all() -> None:
    form = LineForm(key_separator=b"\t", null=b"NULL", headers=(("h", b"1"),), partition=3)
    assert text_record(b"k\tNULL", form) == NewRecord(None, b"k", (("h", b"1"),), 3)
    assert text_record(b"v", LineForm(key=b"fixed")).key == b"fixed"


def test_json_has_every_part() -> None:
    line = (
        b'{"key": {"id": 1}, "value": [1, "\xc3\xa9"], "partition": 2, "timestamp": 5, '
        b'"headers": [{"name": "a", "value": "1"}, {"name": "a", "value_base64": "/w=="}]}'
    )
    form = LineForm(headers=(("all", b"x"),))
    assert json_record(line, form) == NewRecord(
        b'[1,"\xc3\xa9"]', b'{"id":1}', (("all", b"x"), ("a", b"1"), ("a", b"\xff")), 2, 5
    )


def test_json_null_is_null_and_the_partition_option_wins() -> None:
    assert json_record(b'{"value": null, "partition": 2}', LineForm(partition=0)) == NewRecord(None, partition=0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"text", "no JSON"),
        (b"[1]", "it needs the form"),
        (b"{}", "it needs the form"),
        (b'{"value": 1, "vlaue": 2}', "unknown: vlaue; records have"),
        (b'{"value": 1, "partition": "0"}', "partition must be a number"),
        (b'{"value": 1, "timestamp": -5}', "timestamp must be a number"),
        (b'{"value": 1, "headers": ["a"]}', "headers must have the form"),
        (b'{"value_base64": "!"}', "value_base64"),
    ],
)
def test_a_bad_line_is_explained(line: bytes, said: str) -> None:
    with pytest.raises(LineError, match=said):
        json_record(line, LineForm())
