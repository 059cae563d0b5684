"""Filters pick the records that people mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.commands.records.consume_field import RecordView
from ottla.cli.commands.records.consume_filter import parse_filter
from ottla.cli.output.advice import CommandError
from ottla.client.consumer.fetch.record import Record

ORDER = Record(
    "orders",
    2,
    41,
    b"customer-7",
    b'{"amount": 120.5, "paid": true, "note": null, "items": [{"sku": "a-1"}, {"sku": "b"}], "tags": ["x", "y"]}',
    timestamp=1_700_000_000_000,
    headers=(("source", b"web"), ("source", b"app"), ("empty", None)),
)
TEXT = Record("orders", 0, 7, None, b"42 apples")
TOMBSTONE = Record("orders", 0, 8, b"k", None)


@pytest.mark.parametrize(
    "expression",
    [
        'key == "customer-7"',
        "key = customer-7",
        "key != other",
        "value.amount > 100",
        "value.amount >= 120.5 and value.amount <= 120.5",
        "value.paid",
        "value.paid == true",
        "value.note == null",
        "not value.note",
        "not value.absent",
        "value.absent != 1",
        "value.items[1].sku == 'b'",
        "value.items[0].sku startswith a-",
        "value.tags contains y",
        'value contains "amount"',
        r'value ~ "\"sku\": \"[ab]"',
        "value !~ ^x",
        "headers.source == app",
        "headers.source",
        "partition == 2 and offset == 41 and topic == orders",
        "timestamp < 1800000000000",
        "size > 50",
        "key == x or (key startswith customer and not offset < 40)",
        "key == customer-7 or key == x and key == y",
    ],
)
def test_what_holds(expression: str) -> None:
    assert parse_filter(expression)(RecordView(ORDER))


@pytest.mark.parametrize(
    "expression",
    [
        "value.amount > 1000",
        "value.absent == 1",
        "value.absent > 1",
        "value.items[9].sku == b",
        "value.note",
        "headers.empty",
        "headers.absent == app",
        "(key == customer-7 or key == x) and key == y",
        "value.tags contains z",
        "not (partition == 2)",
        "value.amount == text",
        "value.paid == false",
    ],
)
def test_what_does_not(expression: str) -> None:
    assert not parse_filter(expression)(RecordView(ORDER))


def test_text_that_is_no_json_has_no_fields() -> None:
    assert not parse_filter("value.amount")(RecordView(TEXT))
    assert parse_filter("value startswith 42")(RecordView(TEXT))
    assert not parse_filter("value > 41")(RecordView(TEXT))


def test_null_is_neither_text_nor_absent() -> None:
    assert parse_filter("value == null")(RecordView(TOMBSTONE))
    assert not parse_filter('value == ""')(RecordView(TOMBSTONE))
    assert parse_filter("key == null")(RecordView(TEXT))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("", "needs a field at its end"),
        ("value.a >", "needs a value at its end"),
        ("value.a > and key", "needs `and` or `or` at `key`"),
        ("key == a b", "needs `and` or `or` at `b`"),
        ("(key == a", "needs a `)` at its end"),
        ("== a", "needs a field at `== a`"),
        ("colour == red", "records have no field colour"),
        ("value..a", "is no field"),
        ("offset.a", "is no field"),
        ('value ~ "("', "is no regular expression"),
        ('key == "open', "needs something else"),
    ],
)
def test_what_cannot_be_understood_is_pointed_at(expression: str, said: str) -> None:
    with pytest.raises(CommandError) as refused:
        parse_filter(expression)
    assert said in str(refused.value)


_WORDS = st.sampled_from(
    [
        "key",
        "value.a",
        "headers.h",
        "offset",
        "and",
        "or",
        "not",
        "(",
        ")",
        "==",
        "~",
        "<",
        "contains",
        '"x"',
        "1",
        "null",
    ]
)


@given(st.lists(_WORDS | st.text(max_size=5), max_size=12).map(" ".join))
def test_any_text_is_a_filter_or_refused(expression: str) -> None:
    try:
        wanted = parse_filter(expression)
    except CommandError:
        return
    assert all(wanted(RecordView(record)) in (True, False) for record in (ORDER, TEXT, TOMBSTONE))
