"""A JSON Schema as a value: its document, its graph and its texts."""

from collections.abc import Mapping, Sequence

from ottla.schema.error import InvalidSchemaError
from ottla.schema.incompatibility import DIFFERENT_SCHEMA_TYPE, Incompatibility
from ottla.schema.json_schema.change import ALLOWED, incompatibility
from ottla.schema.json_schema.comparison import changes
from ottla.schema.json_schema.loader import load
from ottla.schema.json_schema.node import Object
from ottla.schema.json_text import Json, sorted_keys, write_json
from ottla.schema.parsed import ParsedSchema
from ottla.schema.policy import Policy
from ottla.schema.reference import Reference, in_order
from ottla.schema.schema_type import SchemaType


class JsonSchema:
    """A document that was loaded together with all that it references.

    `strict` holds for what is new: no property at the top may start with `$$`.
    """

    schema_type = SchemaType.JSON

    def __init__(
        self, document: Json, references: Sequence[Reference], resolved: Mapping[str, str], *, strict: bool
    ) -> None:
        self.document = document
        self.references = tuple(references)
        self.root = load(document, resolved)
        if strict and isinstance(self.root, Object):
            for name in self.root.properties:
                if name.startswith("$$"):
                    raise InvalidSchemaError("Field names cannot start with $$ prefix", f"#/properties/{name}")
        self.canonical_text = write_json(document)
        self._resolved = resolved
        self._strict = strict

    @property
    def name(self) -> str | None:
        """The title."""
        title = self.document.get("title") if isinstance(self.document, dict) else None
        return title if isinstance(title, str) else None

    def normalized(self) -> "JsonSchema":
        """With the keys of all objects sorted."""
        return JsonSchema(sorted_keys(self.document), in_order(self.references), self._resolved, strict=self._strict)

    def formatted(self, form: str) -> str:
        """The canonical text, whatever the form."""
        return self.canonical_text

    def incompatibilities(self, writer: ParsedSchema, policy: Policy) -> tuple[Incompatibility, ...]:
        """Why documents that fit `writer` may not fit this schema."""
        if not isinstance(writer, JsonSchema):
            return (DIFFERENT_SCHEMA_TYPE,)
        found = changes(writer.root, self.root, ALLOWED[policy])
        return tuple(incompatibility(change, f"#/{'/'.join(path)}") for change, path in found)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, JsonSchema)
            and self.canonical_text == other.canonical_text
            and self.references == other.references
        )

    def __hash__(self) -> int:
        return hash(self.canonical_text)

    def __repr__(self) -> str:
        return f"JsonSchema({self.canonical_text})"
