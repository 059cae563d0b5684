"""JSON as schemas need it: read with a limit on nesting, written as Jackson writes it.

A registry's ids and GUIDs are made from the text of a schema, so numbers and escapes have to come out as Java prints
them: `1e10` is `1.0E10`, U+001F is `\\u001F`. Objects keep the order of their keys; of a key given twice the last value
counts, in the place of the first.
"""

import json
import math
import re
import struct
from decimal import Decimal
from typing import Final, Never

from ottla.base.java.order import sort_key
from ottla.schema.error import InvalidSchemaError

NESTING_MAX: Final = 200
"""Deeper texts are refused. Real schemas stay below 60; what walks a schema recursively is safe below this."""

Json = dict[str, "Json"] | list["Json"] | str | int | float | Decimal | bool | None

_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_COMMENTS: Final = re.compile(r'("(?:[^"\\]|\\.)*"?)|/\*.*?\*/|//[^\n]*', re.DOTALL)
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LOWER_CASE_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([01][0-9a-f])")


def read_json(text: str, *, comments: bool = False, exact: bool = False) -> Json:
    """The value that the text holds, or InvalidSchemaError.

    `comments` allows those of Java, as Avro's parser does. `exact` reads numbers with a point as decimals.
    """
    refuse_deep_nesting(text)
    _refuse_broken_unicode(text)
    try:
        value, end = (_EXACT_DECODER if exact else _DECODER).raw_decode(text, _skip_blanks(text, 0))
    except ValueError as error:
        if comments and "/" in text:
            return read_json(_COMMENTS.sub(lambda found: found.group(1) or " ", text))
        raise InvalidSchemaError(f"not valid JSON: {error}") from None
    if _skip_blanks(text, end) != len(text):
        raise InvalidSchemaError(f"dangling content after end of schema: {text[end:].strip()[:80]}")
    if _SURROGATE_ESCAPE.search(text):
        _refuse_broken_unicode(write_json(value))
    return value  # type: ignore[no-any-return]


def refuse_deep_nesting(text: str) -> None:
    """Raises InvalidSchemaError for brackets nested beyond NESTING_MAX, before any parser recurses into them."""
    if text.count("[") + text.count("{") <= NESTING_MAX:
        return
    depth = 0
    for found in _BRACKETS.finditer(text):
        token = found.group()
        if token in "[{":
            depth += 1
            if depth > NESTING_MAX:
                raise InvalidSchemaError(f"nested deeper than {NESTING_MAX} levels")
        elif token in "]}":
            depth -= 1


def _refuse_broken_unicode(text: str) -> None:
    """Half of a surrogate pair can't be stored as UTF-8, so no schema may hold one."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidSchemaError(f"half of a surrogate pair at character {error.start}") from None


def write_json(value: Json) -> str:
    """Compact JSON, as Jackson prints a tree.

    >>> write_json({"a": [1, 1e10, 0.5, None, True], "b": "\\x1f"})
    '{"a":[1,1.0E10,0.5,null,true],"b":"\\\\u001F"}'
    """
    if isinstance(value, str):
        return write_string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return write_double(value)
    if isinstance(value, Decimal):
        return str(value) if value else str(abs(value))
    if isinstance(value, list):
        return f"[{','.join(map(write_json, value))}]"
    return f"{{{','.join([f'{write_string(key)}:{write_json(item)}' for key, item in value.items()])}}}"


def write_string(text: str) -> str:
    """A string in quotes; only what must be escaped is."""
    quoted = _ENCODER(text)
    if "\\u00" in quoted:
        quoted = _LOWER_CASE_ESCAPE.sub(lambda found: f"{found.group(1)}\\u00{found.group(2).upper()}", quoted)
    return quoted


def write_double(value: float) -> str:
    """As `Double.toString` prints it, in quotes what is no number in JSON."""
    if math.isnan(value) or math.isinf(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    return _java_notation(repr(value))


def nearest_single(value: float) -> float:
    """The number with the fewest digits that is the same `float` of 32 bits: 0.1 for 0.10000000149."""
    try:
        (single,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    if math.isnan(single) or math.isinf(single):
        return float(single)
    shortest = (float(f"{single:.{digits}g}") for digits in range(1, 10))
    return next(number for number in shortest if struct.unpack("f", struct.pack("f", number))[0] == single)


def sorted_keys(value: Json) -> Json:
    """The value with the keys of all objects in it sorted, as Java sorts strings."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value, key=sort_key)}
    if isinstance(value, list):
        return list(map(sorted_keys, value))
    return value


def same_json(left: Json, right: Json) -> bool:
    """Equality of JSON values, in which `1`, `1.0` and `true` are three."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(item, right[key]) for key, item in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return type(left) is type(right) and (left == right or left != left)


def _java_notation(text: str) -> str:
    """From Python's shortest digits (`1e+22`, `1e-05`, `123456789.0`) to Java's layout of the same digits."""
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return f"{sign}0.0"
    if -3 < point <= 7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _skip_blanks(text: str, start: int) -> int:
    end = len(text)
    while start < end and text[start] in " \t\r\n\ufeff":
        start += 1
    return start


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_EXACT_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=Decimal)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False).encode
