r"""How `ottla consume` prints a record: one line for people, JSON for programs, or a template of the user's.

A template has fields in braces, as filters name them: `{time} {key} {value.amount}\n`; `{{` is a brace, and \n, \t, \\
mean what they mean elsewhere. JSON lines are what `ottla produce --format json` reads: bytes that are not UTF-8 stand
in `key_base64` and `value_base64`.
"""

import base64
import json
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.cli.commands.records.consume_field import ABSENT, ReadRecord, RecordView, parse_field, text_of
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import json_line
from ottla.cli.output.quantity import moment_text
from ottla.cli.output.style import Style, Tone, printable

Render: TypeAlias = Callable[[RecordView], str]
"""The text of a record, with its line end."""

_PIECE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "{": "{", "}": "}"}


def line_render(style: Style, *, with_topic: bool) -> Render:
    """Time, place, key, value and headers on a line."""

    def render(view: RecordView) -> str:
        record = view.record
        place = f"{record.topic}-{record.partition}" if with_topic else str(record.partition)
        parts = [
            style.paint(moment_text(record.timestamp), Tone.FAINT),
            style.paint(f"{place}@{record.offset}", Tone.FAINT),
        ]
        if record.key is not None:
            parts.append(style.paint(_shown(record.key, style), Tone.NAME))
        parts.append(style.paint("null", Tone.WARN) if record.value is None else _shown(record.value, style))
        parts += [style.paint(f"{name}={_shown(value, style)}", Tone.FAINT) for name, value in record.headers]
        return "  ".join(parts) + "\n"

    return render


def _shown(data: object, style: Style) -> str:
    text = text_of(data)
    if text is None:
        return "null"
    return printable(text) if style.is_terminal else text


def json_render(view: RecordView) -> str:
    """A JSON object on a line."""
    return json_line(record_document(view.record)) + "\n"


def record_document(record: ReadRecord) -> dict[str, object]:
    """A record as JSON has it."""
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        **encoded("key", record.key),
        **encoded("value", record.value),
        "headers": [{"name": name, **encoded("value", value)} for name, value in record.headers],
    }


def encoded(name: str, data: object) -> dict[str, str | None]:
    """Bytes below their name if they are text, else in base64.

    >>> encoded("key", b"a"), encoded("value", b"\\xff")
    ({'key': 'a'}, {'value_base64': '/w=='})
    """
    if not isinstance(data, bytes):
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode("ascii")}


def template_render(template: str, style: Style) -> Render:
    """A function that prints records by a template; it adds a line end if the template has none."""
    parts = _parts(template)
    shown = printable if style.is_terminal else str

    def render(view: RecordView) -> str:
        text = "".join(part if isinstance(part, str) else shown(part(view)) for part in parts)
        return text if text.endswith("\n") else text + "\n"

    return render


def _parts(template: str) -> list[str | Render]:
    parts: list[str | Render] = []
    at = 0
    for found in _PIECE.finditer(template):
        parts.append(template[at : found.start()])
        at = found.end()
        if found[1] is not None:
            parts.append(_field_text(found[1]))
        elif found[2] is not None:
            parts.append(_ESCAPES.get(found[2], found[0]))
        else:
            parts.append(found[0][0])
    parts.append(template[at:])
    if not any(callable(part) for part in parts):
        raise CommandError(f"the format {template!r} has no field: write for example '{{key}} {{value}}'")
    return [part for part in parts if part != ""]


def _field_text(name: str) -> Render:
    field = parse_field(name)

    def text(view: RecordView) -> str:
        value = field.of(view)
        if isinstance(value, str):
            return value
        return "" if value is None or value is ABSENT else json.dumps(value, ensure_ascii=False)

    return text
