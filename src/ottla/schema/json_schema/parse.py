"""The way in: the text of a JSON Schema."""

from collections.abc import Mapping, Sequence

from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.keyword import kind_of
from ottla.schema.json_schema.schema import JsonSchema
from ottla.schema.json_text import read_json
from ottla.schema.reference import Reference


def parse(text: str, references: Sequence[Reference], resolved: Mapping[str, str], *, strict: bool) -> JsonSchema:
    """The schema, or InvalidSchemaError."""
    document = read_json(text, exact=True)
    if not isinstance(document, (dict, bool)):
        raise InvalidSchemaError(
            f"Invalid JSON schema: expected an object or boolean at the root, found {kind_of(document).upper()}"
        )
    return JsonSchema(document, references, resolved, strict=strict)
