"""The way in: the text of an Avro schema."""

from collections.abc import Mapping, Sequence

from ottla.schema.avro.schema import AvroSchema
from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_text import read_json
from ottla.schema.reference import Reference


def parse(text: str, references: Sequence[Reference], resolved: Mapping[str, str], *, strict: bool) -> AvroSchema:
    """The schema, or InvalidSchemaError."""
    if not text.strip():
        raise InvalidSchemaError("Cannot parse <null> schema")
    return AvroSchema(read_json(text, comments=True), references, resolved, strict=strict)
