"""Tags inside of a schema's text: which records and fields carry some, and the text with some added or removed.

Entities are named by paths, as Confluent's registry names them: `ns.Order.card` in Avro, `object.card` in JSON Schema,
`Order.card` in Protobuf. What tags look like in a text is the matter of each type's module `tag`.
"""

import enum
import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol, cast

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidSchemaError
from ottla.schema.parsed import ParsedSchema
from ottla.schema.schema_type import SchemaType

AVRO_KEYWORD: Final = "confluent:tags"
"""The attribute of Avro and JSON Schema that holds tags."""


class EntityKind(enum.Enum):
    """The kinds of entities that carry tags."""

    RECORD = "sr_record"
    FIELD = "sr_field"


@frozen
class Entity:
    """A record or a field of a schema; `path` has no leading dot."""

    path: str
    kind: EntityKind

    @property
    def is_field(self) -> bool:
        return self.kind is EntityKind.FIELD

    def missing(self) -> InvalidSchemaError:
        """The refusal of a path that leads nowhere."""
        return InvalidSchemaError(f"No matching path '{self.path}' found in the schema")


Tags = Mapping[Entity, tuple[str, ...]]


@frozen
class TagChange:
    """Tags to add and to remove; what is in both is removed."""

    added: Tags
    removed: Tags

    def entities(self) -> Iterator[Entity]:
        """All that change, in the order given."""
        yield from dict.fromkeys((*self.added, *self.removed))

    def applied(self, entity: Entity, present: Iterable[str]) -> list[str]:
        """An entity's tags afterwards, each once."""
        removed = self.removed.get(entity, ())
        return [tag for tag in dict.fromkeys((*present, *self.added.get(entity, ()))) if tag not in removed]


class _Tagging(Protocol):
    """The functions of the module `tag` of each type."""

    def tagged(self, schema: ParsedSchema) -> dict[Entity, tuple[str, ...]]:
        """The entities that carry tags."""

    def retagged(self, schema: ParsedSchema, change: TagChange) -> str:
        """The text with other tags. Raises InvalidSchemaError for a path that leads nowhere."""


_MODULES: Final = {
    SchemaType.AVRO: "ottla.schema.avro.tag",
    SchemaType.JSON: "ottla.schema.json_schema.tag",
    SchemaType.PROTOBUF: "ottla.schema.protobuf.tag",
}


def tagged(schema: ParsedSchema) -> dict[Entity, tuple[str, ...]]:
    """The records and fields with tags, and their tags.

    >>> from ottla.schema.parse import parse
    >>> text = '{"type":"record","name":"R","fields":[{"name":"f","type":"int","confluent:tags":["PII"]}]}'
    >>> [(entity.path, tags) for entity, tags in tagged(parse(SchemaType.AVRO, text, strict=True)).items()]
    [('R.f', ('PII',))]
    """
    return _tagging(schema).tagged(schema)


def retagged(schema: ParsedSchema, change: TagChange) -> str:
    """The text of the schema with other tags. Raises InvalidSchemaError for a path that leads nowhere."""
    return _tagging(schema).retagged(schema, change)


def with_tags_of(schema: ParsedSchema, previous: ParsedSchema) -> str:
    """The text with the tags that the previous version has where both have a record or field."""
    text, kept = schema.canonical_text, {}
    for entity, tags in tagged(previous).items():
        try:
            retagged(schema, TagChange({entity: tags}, {}))
        except InvalidSchemaError:
            continue
        kept[entity] = tags
    return retagged(schema, TagChange(kept, {})) if kept else text


def _tagging(schema: ParsedSchema) -> _Tagging:
    return cast(_Tagging, importlib.import_module(_MODULES[schema.schema_type]))
