"""Turns lines into records: text with an optional key in front, or JSON. Pure."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from ottla.cli.output.advice import CommandError

Header: TypeAlias = tuple[str, bytes | None]
_FIELDS: Final = frozenset({
    "key", "key_base64", "value", "value_base64", "headers", "partition", "timestamp", "topic", "offset",
})  # fmt: skip


class NewRecord(NamedTuple):
    """A record to be written."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class LineError(CommandError):
    """A line that is no record."""


class LineForm(NamedTuple):
    """The form of lines, and the defaults of all records."""

    key_separator: bytes | None = None
    null: bytes | None = None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    partition: int | None = None


def line_reader(form: LineForm, *, is_json: bool) -> Callable[[bytes], NewRecord]:
    """The function that reads a line, without its end."""
    return (lambda line: json_record(line, form)) if is_json else (lambda line: text_record(line, form))


def text_record(line: bytes, form: LineForm) -> NewRecord:
    """A line of text as a record.

    >>> text_record(b"a:1", LineForm(key_separator=b":"))[:2]
    (b'1', b'a')
    """
    key, value = form.key, line
    if form.key_separator is not None:
        key, found, value = line.partition(form.key_separator)
        if not found:
            raise LineError(f"no {form.key_separator.decode()!r} in it, which --key-separator asks for")
    return NewRecord(_or_null(value, form), None if key is None else _or_null(key, form), form.headers, form.partition)


def _or_null(data: bytes, form: LineForm) -> bytes | None:
    return None if data == form.null else data


def json_record(line: bytes, form: LineForm) -> NewRecord:
    """A JSON object as a record.

    >>> json_record(b'{"key": "a", "value": {"n": 1}, "headers": {"h": "x"}}', LineForm())
    NewRecord(value=b'{"n":1}', key=b'a', headers=(('h', b'x'),), partition=None, timestamp_ms=None)
    """
    try:
        found = json.loads(line)
    except ValueError as error:
        raise LineError(f"no JSON: {error}") from None
    if not isinstance(found, dict) or not found.keys() & {"value", "value_base64"}:
        raise LineError('it needs the form {"value": ...}; --format lines takes any text')
    unknown = found.keys() - _FIELDS
    if unknown:
        raise LineError(f"unknown: {', '.join(sorted(unknown))}; records have {', '.join(sorted(_FIELDS))}")
    key = _data(found, "key")
    partition = _number(found, "partition")
    return NewRecord(
        _data(found, "value"),
        form.key if key is None else key,
        (*form.headers, *_headers(found.get("headers") or ())),
        # A copied record goes where its key leads, unless --partition says otherwise: topics differ in partitions.
        form.partition if form.partition is not None or "offset" in found else partition,
        _number(found, "timestamp"),
    )


def _data(found: Mapping[str, object], name: str) -> bytes | None:
    encoded = found.get(f"{name}_base64")
    if isinstance(encoded, str):
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise LineError(f"{name}_base64: {error}") from None
    value = found.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _number(found: Mapping[str, object], name: str) -> int | None:
    value = found.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise LineError(f"{name} must be a number, not {value!r}")


def _headers(given: object) -> Sequence[Header]:
    if isinstance(given, dict):
        return [(name, _data({"value": value}, "value")) for name, value in given.items()]
    if isinstance(given, (list, tuple)) and all(isinstance(item, dict) and "name" in item for item in given):
        return [(str(item["name"]), _data(item, "value")) for item in given]
    raise LineError('headers must have the form {"NAME": "VALUE"} or [{"name": "NAME", "value": "VALUE"}]')
