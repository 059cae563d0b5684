"""Connect's schemas as JSON, as they stand in the envelope of JsonConverter, and back.

Written in Kafka's order: type and what it is made of, then optional, name, version, doc, parameters, default, field.
"""

from collections.abc import Callable, Mapping
from typing import Final

from ottla.connect.data.builder import struct, with_default
from ottla.connect.data.schema import Schema
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError, SchemaBuilderError

_TYPES: Final = {kind.value: kind for kind in Type}

ReadDefault = Callable[[Schema, object], object]


def schema_from_json(node: object, read_default: ReadDefault) -> Schema:
    """The schema of a JSON object; `read_default` reads a default by the schema it belongs to."""
    if not isinstance(node, Mapping) or not isinstance(node.get("type"), str):
        raise DataError("Schema must contain 'type' field")
    kind = _TYPES.get(node["type"])
    if kind is None:
        raise DataError(f"Unknown schema type: {node['type']}")
    schema = _bare(kind, node, read_default).replace(**_attributes(node))
    if "default" in node:
        if schema.type is Type.STRUCT and node["default"] is not None:
            raise SchemaBuilderError("Invalid default value")
        default = read_default(schema, node["default"])
        return with_default(schema, default)
    return schema


def _bare(kind: Type, node: Mapping[str, object], read_default: ReadDefault) -> Schema:
    if kind is Type.ARRAY:
        if node.get("items") is None:
            raise DataError("Array schema did not specify the element type")
        return Schema(kind, value_schema=schema_from_json(node["items"], read_default))
    if kind is Type.MAP:
        for part, word in (("keys", "key"), ("values", "value")):
            if part not in node:
                raise DataError(f"Map schema did not specify the {word} type")
            if node[part] is None:
                raise SchemaBuilderError(f"{word}Schema cannot be null.")
        keys, values = schema_from_json(node["keys"], read_default), schema_from_json(node["values"], read_default)
        return Schema(kind, key_schema=keys, value_schema=values)
    if kind is not Type.STRUCT:
        return Schema(kind)
    listed = node.get("fields")
    if not isinstance(listed, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    fields: list[tuple[str, Schema]] = []
    for field in listed:
        name = field.get("field") if isinstance(field, Mapping) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        fields.append((name, schema_from_json(field, read_default)))
    return struct(fields)


def _attributes(node: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {"optional": node.get("optional") is True}
    for word in ("name", "doc"):
        if isinstance(node.get(word), str):
            found[word] = node[word]
    version = node.get("version")
    if isinstance(version, int) and not isinstance(version, bool):
        found["version"] = version
    parameters = node.get("parameters")
    if isinstance(parameters, Mapping):
        if not all(isinstance(value, str) for value in parameters.values()):
            raise DataError("Schema parameters must have string values.")
        found["parameters"] = parameters or None
    return found


def schema_members(schema: Schema, quote: Callable[[str], str], write: Callable[[Schema, object], str]) -> str:
    """The members of a schema's JSON object, without its braces."""
    members = [f'"type":"{schema.type.value}"']
    if schema.type is Type.STRUCT:
        fields = (
            f'{{{schema_members(field.schema, quote, write)},"field":{quote(field.name)}}}' for field in schema.fields
        )
        members.append(f'"fields":[{",".join(fields)}]')
    if schema.type is Type.MAP:
        members.append(f'"keys":{_nested(schema.key_schema, quote, write)}')
        members.append(f'"values":{_nested(schema.value_schema, quote, write)}')
    if schema.type is Type.ARRAY:
        members.append(f'"items":{_nested(schema.value_schema, quote, write)}')
    members.append(f'"optional":{"true" if schema.optional else "false"}')
    if schema.name is not None:
        members.append(f'"name":{quote(schema.name)}')
    if schema.version is not None:
        members.append(f'"version":{schema.version}')
    if schema.doc is not None:
        members.append(f'"doc":{quote(schema.doc)}')
    if schema.parameters is not None:
        pairs = ",".join(f"{quote(key)}:{quote(value)}" for key, value in schema.parameters.items())
        members.append(f'"parameters":{{{pairs}}}')
    if schema.default is not None:
        members.append(f'"default":{write(schema, schema.default)}')
    return ",".join(members)


def _nested(schema: Schema | None, quote: Callable[[str], str], write: Callable[[Schema, object], str]) -> str:
    return "null" if schema is None else f"{{{schema_members(schema, quote, write)}}}"
