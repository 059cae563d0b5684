"""The interface of parsed schemas of every type."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ottla.schema.incompatibility import Incompatibility
    from ottla.schema.policy import Policy
    from ottla.schema.reference import Reference
    from ottla.schema.schema_type import SchemaType


class ParsedSchema(Protocol):
    """A schema that was understood: immutable, and independent of any registry."""

    @property
    def schema_type(self) -> "SchemaType":
        """Which language it is written in."""

    @property
    def references(self) -> "tuple[Reference, ...]":
        """The schemas that it needs, as they were given."""

    @property
    def canonical_text(self) -> str:
        """The text that a registry stores. Parsing it again gives an equal schema with the same canonical text."""

    @property
    def name(self) -> str | None:
        """The full name of the record or message, the title of a JSON Schema; None when there is none."""

    def normalized(self) -> "ParsedSchema":
        """The schema in its normal form, for which `normalize=true` asks: one spelling for each meaning."""

    def formatted(self, form: str) -> str:
        """The text in another form: `resolved` (Avro), `serialized` (Protobuf); empty is the canonical text."""

    def incompatibilities(self, writer: "ParsedSchema", policy: "Policy") -> "tuple[Incompatibility, ...]":
        """Why this schema, as the reader, can't read what `writer`, of the same type, wrote; empty when it can.

        Raises InvalidSchemaError when both are too large to be compared.
        """
