"""From a schema's text to what reads and writes its columns, by its type."""

from typing import TYPE_CHECKING, Any, cast

from ottla.client.registry.registry import SchemaRegistry
from ottla.client.registry.value import SchemaText
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.columns.decoding import AvroColumns
from ottla.schema.columns.encoding import AvroRecords
from ottla.schema.parse import parse
from ottla.schema.parsed import ParsedSchema
from ottla.schema.schema_type import SchemaType

if TYPE_CHECKING:
    from ottla.schema.json_schema.schema import JsonSchema
    from ottla.schema.protobuf.schema import ProtobufSchema


def parsed(registry: SchemaRegistry, schema: SchemaText) -> ParsedSchema:
    """The schema with all that it references."""
    resolved = registry.resolved(schema) if schema.references else {}
    return parse(schema.schema_type, schema.text, schema.references, resolved, strict=False)


def columns_of(schema: ParsedSchema, message: str | None = None) -> Any:
    """A reader of columns by the schema; with Protobuf, by one message of it."""
    # Avro needs none of what the others are read with.
    if isinstance(schema, AvroSchema):
        return AvroColumns(schema)
    if schema.schema_type is SchemaType.PROTOBUF:
        from ottla.schema.columns.protobuf.decoding import ProtobufColumns

        return ProtobufColumns(cast("ProtobufSchema", schema), message)
    from ottla.schema.columns.json.decoding import JsonColumns

    return JsonColumns(cast("JsonSchema", schema))


def records_of(schema: ParsedSchema, message: str | None = None) -> Any:
    """A writer of columns by the schema."""
    if isinstance(schema, AvroSchema):
        return AvroRecords(schema)
    if schema.schema_type is SchemaType.PROTOBUF:
        from ottla.schema.columns.protobuf.encoding import ProtobufRecords

        return ProtobufRecords(cast("ProtobufSchema", schema), message)
    from ottla.schema.columns.json.encoding import JsonRecords

    return JsonRecords(cast("JsonSchema", schema))
