"""Schemas made step by step, with Kafka's refusals: doubled fields, defaults of the wrong type."""

from collections.abc import Iterable, Mapping

from ottla.connect.data.schema import Field, Schema
from ottla.connect.data.struct import checked
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError, SchemaBuilderError


def struct(
    fields: Mapping[str, Schema] | Iterable[tuple[str, Schema]],
    *,
    like: Schema | None = None,
    optional: bool = False,
    name: str | None = None,
) -> Schema:
    """A struct's schema; `like` gives its name, version, doc and parameters.

    >>> from ottla.connect.data.schema import INT32
    >>> struct([("a", INT32), ("a", INT32)])
    Traceback (most recent call last):
    ottla.connect.errors.SchemaBuilderError: Cannot create field because of field name duplication a
    """
    made: dict[str, Field] = {}
    for key, schema in fields.items() if isinstance(fields, Mapping) else fields:
        if not key:
            raise SchemaBuilderError("fieldName cannot be null.")
        if key in made:
            raise SchemaBuilderError(f"Cannot create field because of field name duplication {key}")
        made[key] = Field(key, len(made), schema)
    if like is None:
        return Schema(Type.STRUCT, optional=optional, name=name, fields=tuple(made.values()))
    return basics(like, Schema(Type.STRUCT, optional=optional, fields=tuple(made.values())))


def basics(source: Schema, target: Schema) -> Schema:
    """The target with name, version, doc and parameters of the source."""
    return target.replace(
        name=source.name, version=source.version, doc=source.doc, parameters=source.parameters or None
    )


def array(items: Schema, *, optional: bool = False) -> Schema:
    """A list of values of one schema."""
    return Schema(Type.ARRAY, optional=optional, value_schema=items)


def mapping(keys: Schema, values: Schema, *, optional: bool = False) -> Schema:
    """A map from keys of one schema to values of another."""
    return Schema(Type.MAP, optional=optional, key_schema=keys, value_schema=values)


def with_default(schema: Schema, default: object) -> Schema:
    """The schema with a default that fits it."""
    try:
        value = checked(schema, default)
    except DataError as error:
        raise SchemaBuilderError("Invalid default value") from error
    return schema.replace(default=value)
