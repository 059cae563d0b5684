"""Which columns are records with a schema registry, by which schema, and what becomes of bad ones."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from ottla.base.frozen import frozen
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.name import REGISTRY_PREFIX
from ottla.pipelines.option.value import choice

COLUMNS: Final = ("key", "value")
_BINARY: Final = "binary"
_TYPES: Final = {"avro": "AVRO", "jsonschema": "JSON", "protobuf": "PROTOBUF"}
"""The formats, and what a registry calls their schemas."""


@frozen
class ColumnFormat:
    """One column that is no plain bytes."""

    column: str
    subject: str | None
    schema: str | None
    on_error: Literal["fail", "null", "column"]
    settings: dict[str, str] = field(repr=False)
    """Of the registry's client; may hold secrets."""
    schema_type: str = "AVRO"
    message: str | None = None
    """Of Protobuf: the message's full name."""

    @property
    def error_column(self) -> str:
        """The column of reasons, with `badRecords=column`."""
        return f"{self.column}_error"


def has_formats(options: Mapping[str, str]) -> bool:
    """Whether a column has a format; names in any case."""
    lowered = {name.lower(): value for name, value in options.items()}
    return any(lowered.get(f"{column}.format", _BINARY).strip().lower() != _BINARY for column in COLUMNS)


def parse_formats(given: Mapping[str, str], topic: str | None) -> tuple[ColumnFormat, ...]:
    """The formats that options (names in lower case) ask for; `topic` is the only one, or None for several."""
    formats = []
    settings = {
        name.removeprefix(REGISTRY_PREFIX): value for name, value in given.items() if name.startswith(REGISTRY_PREFIX)
    }
    on_error = choice(given, "badRecords", ("fail", "null", "column"))
    for column in COLUMNS:
        kind = choice(given, f"{column}.format", (_BINARY, *_TYPES))
        if kind == _BINARY:
            _refuse_alone(given, column)
            continue
        if not settings.get("url", "").strip():
            raise OptionError("schema.registry.url", f"required by '{column}.format': http://host:port")
        schema = given.get(f"{column}.schema")
        subject = given.get(f"{column}.subject") or (None if topic is None else f"{topic}-{column}")
        if subject is None and schema is None:
            raise OptionError(f"{column}.subject", "required where there is not one topic that is named")
        message = given.get(f"{column}.message")
        if message is not None and kind != "protobuf":
            raise OptionError(f"{column}.message", f"has no meaning without '{column}.format' protobuf")
        formats.append(ColumnFormat(column, subject, schema, _on_error(on_error), settings, _TYPES[kind], message))
    return tuple(formats)


def _refuse_alone(given: Mapping[str, str], column: str) -> None:
    for name in (f"{column}.subject", f"{column}.schema", f"{column}.message"):
        if name in given:
            raise OptionError(name, f"has no meaning without '{column}.format'")


def _on_error(text: str) -> Literal["fail", "null", "column"]:
    return "null" if text == "null" else "column" if text == "column" else "fail"
