"""JSON Schemas for Connect's, and back, as Confluent's JSON Schema converter writes them. Pure: schemas are JSON.

Keywords of Connect's own hold what JSON Schema lacks: `connect.type`, `connect.version`, `connect.parameters`,
`connect.index`. An optional value is `oneOf` null and its type; in a schema from elsewhere, a property that is not
`required` is optional, too.
"""

from collections.abc import Mapping
from typing import Any, Final

from ottla.connect.converter.json_schema_option import JsonSchemaOption
from ottla.connect.data.builder import array, mapping, struct
from ottla.connect.data.logical import DECIMAL
from ottla.connect.data.schema import STRING, Schema
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

_JSON_TYPES: Final = {
    Type.INT8: "integer", Type.INT16: "integer", Type.INT32: "integer", Type.INT64: "integer",
    Type.FLOAT32: "number", Type.FLOAT64: "number", Type.BOOLEAN: "boolean", Type.STRING: "string",
    Type.BYTES: "string",
}  # fmt: skip
_CONNECT_TYPES: Final = {
    "int8": Type.INT8, "int16": Type.INT16, "int32": Type.INT32, "int64": Type.INT64, "float32": Type.FLOAT32,
    "float64": Type.FLOAT64, "bytes": Type.BYTES,
}  # fmt: skip
_WORDS: Final = {kind: word for word, kind in _CONNECT_TYPES.items()}
_DEFAULTS: Final = {
    "integer": Type.INT64, "number": Type.FLOAT64, "boolean": Type.BOOLEAN, "string": Type.STRING,
}  # fmt: skip
_NULL: Final = {"type": "null"}
_USUAL: Final = JsonSchemaOption()


def to_document(schema: Schema, index: int | None = None, option: JsonSchemaOption = _USUAL) -> dict[str, Any]:
    """The JSON Schema; `index` is the place of a field in its struct.

    >>> from ottla.connect.data.schema import OPTIONAL_INT32
    >>> to_document(OPTIONAL_INT32)
    {'oneOf': [{'type': 'null'}, {'type': 'integer', 'connect.type': 'int32'}]}
    """
    made = _required(schema, option)
    if schema.optional:
        made = {"oneOf": [_NULL, made]}
    return made if index is None else {**made, "connect.index": index}


def from_document(document: Any, *, is_optional: bool = False) -> Schema:
    """The schema of what a JSON Schema describes."""
    if not isinstance(document, Mapping):
        raise DataError(f"the JSON Schema {document!r} does not say what type a value has")
    kinds = document.get("oneOf") or document.get("anyOf")
    if kinds is None and isinstance(document.get("type"), list):
        kinds = [{**document, "type": each} for each in document["type"]]
    if kinds is not None:
        others = [each for each in kinds if each.get("type") != "null"]
        if len(others) != 1:
            raise DataError("a JSON Schema with several types besides null has none in Connect")
        return from_document(others[0], is_optional=is_optional or len(others) < len(kinds))
    found = _annotated(_plain(document), document)
    return found.replace(optional=True) if is_optional else found


def _required(schema: Schema, option: JsonSchemaOption) -> dict[str, Any]:
    made: dict[str, Any]
    if schema.type is Type.STRUCT:
        made = {"type": "object"}
        made["properties"] = {each.name: to_document(each.schema, each.index, option) for each in schema.fields}
        required = [each.name for each in schema.fields if not each.schema.optional and each.schema.default is None]
        if required:
            made["required"] = required
        if option.closes_objects:
            made["additionalProperties"] = False
    elif schema.type is Type.ARRAY and schema.value_schema is not None:
        made = {"type": "array", "items": to_document(schema.value_schema, option=option)}
    elif schema.type is Type.MAP and schema.key_schema is not None and schema.value_schema is not None:
        if schema.key_schema.type is not Type.STRING or schema.key_schema.optional:
            entry = [to_document(each, option=option) for each in (schema.key_schema, schema.value_schema)]
            made = {"type": "array", "items": {"type": "array", "prefixItems": entry}, "connect.type": "map"}
        else:
            made = {
                "type": "object",
                "additionalProperties": to_document(schema.value_schema, option=option),
                "connect.type": "map",
            }
    elif schema.type in _JSON_TYPES:
        is_number = schema.name == DECIMAL and option.numeric_decimals
        made = {"type": "number" if is_number else _JSON_TYPES[schema.type]}
        if schema.type in _WORDS:
            made["connect.type"] = _WORDS[schema.type]
    else:
        raise DataError(f"{schema} has no schema of its parts")
    notes = {
        "title": schema.name, "connect.version": schema.version, "connect.parameters": schema.parameters or None,
        "description": schema.doc,
    }  # fmt: skip
    return made | {name: value for name, value in notes.items() if value is not None}


def _plain(document: Mapping[str, Any]) -> Schema:
    kind, connect = document.get("type"), document.get("connect.type")
    if kind == "object":
        if connect == "map" or "properties" not in document:
            inner = document.get("additionalProperties")
            return mapping(STRING, from_document(inner if isinstance(inner, Mapping) else {"type": "string"}))
        return _struct(document)
    if kind == "array":
        items = document.get("items")
        if connect == "map" and isinstance(items, Mapping):
            key, value = (from_document(each) for each in items["prefixItems"])
            return mapping(key, value)
        return array(from_document(items))
    if connect in _CONNECT_TYPES:
        return Schema(_CONNECT_TYPES[connect])
    if kind in _DEFAULTS:
        return Schema(_DEFAULTS[kind])
    if "enum" in document and all(isinstance(each, str) for each in document["enum"]):
        return STRING
    raise DataError(f"the JSON Schema's type {kind!r} has none in Connect")


def _struct(document: Mapping[str, Any]) -> Schema:
    required = set(document.get("required", ()))
    properties = sorted(document["properties"].items(), key=lambda each: each[1].get("connect.index", 0))
    return struct([(name, from_document(each, is_optional=name not in required)) for name, each in properties])


def _annotated(schema: Schema, document: Mapping[str, Any]) -> Schema:
    changes = {
        "name": document.get("title"), "version": document.get("connect.version"),
        "parameters": document.get("connect.parameters"), "doc": document.get("description"),
    }  # fmt: skip
    given = {name: value for name, value in changes.items() if value is not None}
    return schema.replace(**given) if given else schema
