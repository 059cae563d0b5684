"""From a schema's text to what reads and writes its columns, by its type."""

from typing import Any

from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.columns.decoding import AvroColumns
from ottla.schema.columns.encoding import AvroRecords
from ottla.schema.error import InvalidSchemaError
from ottla.schema.parse import parse
from ottla.schema.parsed import ParsedSchema


def parsed(registry: SchemaRegistry, schema: SchemaText) -> ParsedSchema:
    """The schema with all that it references."""
    resolved = registry.resolved(schema) if schema.references else {}
    return parse(schema.schema_type, schema.text, schema.references, resolved, strict=False)


def columns_of(schema: ParsedSchema) -> Any:
    """What reads columns of the schema."""
    if isinstance(schema, AvroSchema):
        return AvroColumns(schema)
    raise InvalidSchemaError(f"columns of {schema.schema_type} are not supported")


def records_of(schema: ParsedSchema) -> Any:
    """What writes columns by the schema."""
    if isinstance(schema, AvroSchema):
        return AvroRecords(schema)
    raise InvalidSchemaError(f"columns of {schema.schema_type} are not supported")
