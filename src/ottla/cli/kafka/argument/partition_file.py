"""JSON files that list partitions, as several of Kafka's tools take them; the words of refusals are Kafka's."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from ottla.cli.kafka.argument.option import ToolError

T = TypeVar("T")


def read_text(path: str) -> str:
    """A file's text."""
    try:
        return Path(path).read_text()
    except OSError as error:
        raise ToolError(f"Unable to read file {path}") from error


def parse_json(text: str) -> object | None:
    """The value, None for a text that is no JSON."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value


def shown_json(value: object) -> str:
    """A value as Kafka shows it in refusals."""
    return json.dumps(value, separators=(",", ":"))


def field(entry: object, name: str, kind: type[T]) -> T:
    """A field of an object that must be there."""
    if not isinstance(entry, Mapping):
        raise ToolError("Expected JSON object, received " + shown_json(entry))
    if name not in entry:
        raise ToolError(f"No such field exists: `{name}`")
    value = entry[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ToolError(f"Expected `{kind.__name__}` value, received {shown_json(value)}")
    return value


def entries(value: object) -> Iterable[object]:
    """The items of a list."""
    if not isinstance(value, list):
        raise ToolError("Expected JSON array, received " + shown_json(value))
    return value
