"""The fields of a record by name: `key`, `value.customer.id`, `headers.trace`, `offset`; for filters and formats.

A path below `key` or `value` reads the bytes as JSON. What is not there is `ABSENT`, which is neither null nor "".
"""

import json
import re
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from ottla.cli.output.advice import CommandError
from ottla.cli.output.quantity import moment_text

ROOTS: Final = ("key", "value", "headers", "topic", "partition", "offset", "timestamp", "time", "size")
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\"([^\"]*)\"\]")
_ROOT: Final = re.compile(r"[a-z]+")


class Absent:
    """A field that the record does not have."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class ReadRecord(Protocol):
    """A record as a consumer returns it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: object
    value: object

    @property
    def headers(self) -> tuple[tuple[str, bytes | None], ...]:
        """Names and values, in order."""


def text_of(data: object) -> str | None:
    """Bytes as text: UTF-8, with what is not as escapes."""
    return data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else None


class RecordView:
    """A record whose parts are decoded when they are first looked at."""

    def __init__(self, record: ReadRecord) -> None:
        self.record: Final = record

    @cached_property
    def key_json(self) -> object:
        """The key as JSON."""
        return _json(self.record.key)

    @cached_property
    def value_json(self) -> object:
        """The value as JSON."""
        return _json(self.record.value)

    def header(self, name: str) -> object:
        """The last header of that name, as it wins in most frameworks."""
        found = [value for header, value in self.record.headers if header == name]
        return text_of(found[-1]) if found else ABSENT


def _json(data: object) -> object:
    try:
        return json.loads(data) if isinstance(data, bytes) else ABSENT
    except ValueError:
        return ABSENT


class Field(NamedTuple):
    """A field: its root, and the way below it."""

    root: str
    steps: tuple[str | int, ...] = ()

    def of(self, view: RecordView) -> object:
        """Its value in a record: text, number, JSON, None for null, or `ABSENT`."""
        record, root = view.record, self.root
        if root in ("key", "value"):
            if not self.steps:
                return text_of(record.key if root == "key" else record.value)
            return _below(view.key_json if root == "key" else view.value_json, self.steps)
        if root == "headers":
            if self.steps:
                return view.header(str(self.steps[0]))
            return ",".join(f"{name}={text_of(value) or ''}" for name, value in record.headers)
        if root == "time":
            return moment_text(record.timestamp)
        if root == "size":
            return len(record.value) if isinstance(record.value, bytes) else 0
        found: object = getattr(record, root)
        return found


def _below(value: object, steps: tuple[str | int, ...]) -> object:
    for step in steps:
        if isinstance(value, dict):
            value = value.get(str(step), ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def parse_field(text: str) -> Field:
    """The field that a path stands for.

    >>> parse_field("value.items[0].price")
    Field(root='value', steps=('items', 0, 'price'))
    """
    root = _ROOT.match(text)
    if root is None or root[0] not in ROOTS:
        raise CommandError(f"records have no field {text}: they have {', '.join(ROOTS)}, and value.NAME for JSON")
    if root[0] == "headers":
        name = text[len("headers.") :]
        return Field("headers", (name,) if name else ())
    steps: list[str | int] = []
    at = root.end()
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or root[0] not in ("key", "value"):
            raise CommandError(f"{text} is no field: below key and value there are paths such as value.items[0].price")
        steps.append(int(step[2]) if step[2] is not None else step[1] or step[3])
        at = step.end()
    return Field(root[0], tuple(steps))
