"""Fields of bodies: what is converted, and with which status the rest is refused."""

from typing import Any

import pytest

from ottla.web.http.errors import HttpError
from ottla.web.rest.field import INT64, Fields, parse_moment, show_moment


def test_scalars_are_converted() -> None:
    fields = Fields({"a": True, "b": "12", "c": 1.5, "d": "TRUE", "e": None}, ("a", "b", "c", "d", "e"))
    assert [fields.text("a"), fields.integer("b"), fields.text("c"), fields.boolean("d")] == ["true", 12, "1.5", True]
    assert [fields.optional_text("e"), fields.optional_list("e"), fields.boolean("e")] == [None, [], False]
    assert not fields.has("e")


@pytest.mark.parametrize(
    ("value", "read", "status"),
    [
        ({"x": 1}, lambda fields: None, 422),
        (None, lambda fields: None, 422),
        ([], lambda fields: None, 400),
        ({"a": {}}, lambda fields: fields.text("a"), 400),
        ({}, lambda fields: fields.text("a"), 422),
        ({"a": "\ud800"}, lambda fields: fields.text("a"), 400),
        ({"a": 1 << 31}, lambda fields: fields.integer("a"), 400),
        ({"a": 1.5}, lambda fields: fields.integer("a"), 400),
        ({"a": True}, lambda fields: fields.integer("a"), 400),
        ({"a": 1 << 63}, lambda fields: fields.integer("a", INT64), 400),
        ({"a": -1}, lambda fields: fields.natural("a"), 422),
        ({"a": "no"}, lambda fields: fields.boolean("a"), 400),
        ({"a": {}}, lambda fields: fields.optional_list("a"), 400),
        ({"a": [1]}, lambda fields: list(fields.objects("a", ("b",))), 400),
        ({"a": "soon"}, lambda fields: fields.moment("a"), 400),
        ({"a": "2026-01-31T12:00:00"}, lambda fields: fields.moment("a"), 400),
    ],
)
def test_the_rest_is_refused(value: Any, read: Any, status: int) -> None:
    with pytest.raises(HttpError) as caught:
        read(Fields(value, ("a",)))
    assert caught.value.status == status


def test_times_are_read_and_written() -> None:
    for text in ("2021-02-05T19:14:42Z", "2021-02-05T19:14:42.250Z", "1969-12-31T23:59:59.999Z"):
        found = parse_moment(text)
        assert found is not None
        assert show_moment(found) == (text if found >= 0 else None)
    assert parse_moment("2021-02-05T20:14:42+01:00") == parse_moment("2021-02-05T19:14:42Z")
    assert show_moment(1 << 62) is None
