"""From text to a parsed schema, for every type of schema.

The parsers are imported when the first schema of their type comes: a user of Avro alone needs no Protobuf installed.
Each package (`avro`, `json_schema`, `protobuf`) has a module `parse` with a function `parse`.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast

from ottla.schema.parsed import ParsedSchema
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType


class Parser(Protocol):
    """The function `parse` of the package of each type."""

    def __call__(
        self, text: str, references: Sequence[Reference], resolved: Mapping[str, str], *, strict: bool
    ) -> ParsedSchema:
        """The schema, or InvalidSchemaError."""


_MODULES: Final = {
    SchemaType.AVRO: "ottla.schema.avro.parse",
    SchemaType.JSON: "ottla.schema.json_schema.parse",
    SchemaType.PROTOBUF: "ottla.schema.protobuf.parse",
}

SERIALIZED: Final = "serialized"
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
"""No .proto text looks like that: each of its statements has a sign that base64 lacks."""


def form_of(schema_type: SchemaType, text: str) -> str:
    """The form that a text is in: `serialized` for a Protobuf descriptor in base64, empty for any other.

    >>> form_of(SchemaType.PROTOBUF, "CgFh"), form_of(SchemaType.PROTOBUF, "message M {}")
    ('serialized', '')
    """
    # Blanks go first: a pattern that allows them everywhere takes quadratic time for a text that is nothing else.
    is_serialized = schema_type is SchemaType.PROTOBUF and _BASE64.fullmatch("".join(text.split())) is not None
    return SERIALIZED if is_serialized else ""


def parse(
    schema_type: SchemaType,
    text: str,
    references: Sequence[Reference] = (),
    resolved: Mapping[str, str] | None = None,
    *,
    strict: bool,
) -> ParsedSchema:
    """The schema that `text` describes, or InvalidSchemaError.

    `resolved` has the canonical text of each referenced schema by its name, and of all that those reference in turn.
    `strict` applies the checks for a schema that is new; what is stored already is read without them.
    """
    parser = cast(Parser, importlib.import_module(_MODULES[schema_type]).parse)
    return parser(text, tuple(references), resolved or {}, strict=strict)
