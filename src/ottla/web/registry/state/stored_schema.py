"""A schema as the registry keeps it: one version of one subject. The text is not parsed here."""

from typing import Final
from uuid import UUID

from ottla.base.frozen import frozen
from ottla.schema.guid import guid
from ottla.schema.metadata import Metadata
from ottla.schema.reference import Reference
from ottla.schema.rule import RuleSet

AVRO: Final = "AVRO"


@frozen
class SchemaContent:
    """The identity of a schema: type, canonical text, references, metadata and rules."""

    schema_type: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    def digest(self) -> bytes:
        """The GUID's bytes and the type's first letter: equal for equal contents."""
        return guid(self.text, self.references, self.metadata, self.rule_set).bytes + self.schema_type[:1].encode()


@frozen
class StoredSchema:
    """One version of a subject."""

    subject: str
    version: int
    id: int
    content: SchemaContent
    digest: bytes
    deleted: bool = False
    timestamp: int = 0
    """When the record was written, in milliseconds."""

    @property
    def guid(self) -> str:
        """The globally unique id."""
        return str(UUID(bytes=self.digest[:16]))
