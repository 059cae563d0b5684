"""Confluent's classes that the consoles' options name, and the kind of schema that each is for."""

from typing import Final

_PACKAGE: Final = "io.confluent.kafka.formatter."
_CLASSES: Final = {
    "AvroMessage": "AVRO",
    "json.JsonSchemaMessage": "JSON",
    "protobuf.ProtobufMessage": "PROTOBUF",
}
SCHEMA_READERS: Final = {f"{_PACKAGE}{name}Reader": kind for name, kind in _CLASSES.items()}
SCHEMA_FORMATTERS: Final = {f"{_PACKAGE}{name}Formatter": kind for name, kind in _CLASSES.items()}


def reader_of(kind: str) -> str:
    """What takes lines apart."""
    return next(name for name, found in SCHEMA_READERS.items() if found == kind)


def formatter_of(kind: str) -> str:
    """What writes records."""
    return next(name for name, found in SCHEMA_FORMATTERS.items() if found == kind)
