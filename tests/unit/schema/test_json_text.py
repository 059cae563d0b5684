"""JSON as schemas need it: what is refused, and how Java prints numbers and strings."""

from decimal import Decimal

import pytest

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_text import nearest_single, read_json, same_json, write_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e7, "1.0E7"),
        (1e6, "1000000.0"),
        (123456789.125, "1.23456789125E8"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (-0.0, "-0.0"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
        (Decimal("1.50"), "1.50"),
        (Decimal("1e5"), "1E+5"),
        (Decimal("-0.0"), "0.0"),
        (True, "true"),
        ('\\u001f\x1f\x7f\u2028/"', '"\\\\u001f\\u001F\x7f\u2028/\\""'),
    ],
)
def test_values_print_as_in_java(value: float | str | Decimal, text: str) -> None:
    assert write_json(value) == text


def test_floats_of_32_bits_have_few_digits() -> None:
    assert [nearest_single(value) for value in (0.1, 16777217.0, 1e30, 1e300)] == [0.1, 16777216.0, 1e30, float("inf")]


def test_one_is_not_true() -> None:
    assert not same_json(1, True)
    assert not same_json(1, 1.0)
    assert same_json({"a": [1], "b": None}, {"b": None, "a": [1]})


@pytest.mark.parametrize(
    "text",
    [
        '"\\ud800"',
        '{"\\uDFFF":1}',
        '"\ud800"',
        '"a\x01"',
        "[1,]",
        "NaN",
        "01",
        "[" * 201 + "]" * 201,
        "// only a comment",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        read_json(text, comments=True)


def test_read() -> None:
    assert read_json('"\\ud83d\\ude00"') == "\U0001f600"
    assert read_json(' {"a": 1, "b": 2, "a": 3} ') == {"a": 3, "b": 2}
    assert read_json('/* " */ {"a": "// no comment"} ', comments=True) == {"a": "// no comment"}
    assert read_json("[" * 200 + "]" * 200)
    assert read_json("[" + ",".join(["{}"] * 1000) + "]") == [{}] * 1000
