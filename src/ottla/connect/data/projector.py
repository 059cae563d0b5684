"""Values of one version of a schema as values of another, as Kafka's `SchemaProjector` does it.

Numbers may become wider; fields that the target lacks are left out, those that it has in addition take their defaults.
"""

from typing import Final

from ottla.connect.data.conversion import to_number
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import SchemaProjectorError

_NUMBERS: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)
"""Each may become one of those behind it."""


def project(source: Schema, value: object, target: Schema) -> object:
    """A value of `source` as one of `target`; `SchemaProjectorError` if that can't be.

    >>> from ottla.connect.data.builder import struct
    >>> from ottla.connect.data.schema import INT32, INT64, OPTIONAL_STRING
    >>> old, new = struct({"id": INT32}), struct({"id": INT64, "note": OPTIONAL_STRING})
    >>> project(old, Struct(old, {"id": 7}), new)
    Struct{id=7}
    """
    _check(source, target)
    if source.optional and not target.optional:
        if target.default is None:
            raise SchemaProjectorError(
                "Writer schema is optional, however, target schema does not provide a default value."
            )
        return target.default if value is None else _projected(source, value, target)
    return None if value is None else _projected(source, value, target)


def _check(source: Schema, target: Schema) -> None:
    if source.type is not target.type and not _is_promotable(source.type, target.type):
        raise SchemaProjectorError(f"Schema type mismatch. source type: {source.type} and target type: {target.type}")
    if source.name != target.name:
        names = f"source name: {_shown(source.name)} and target name: {_shown(target.name)}"
        raise SchemaProjectorError(f"Schema name mismatch. {names}")
    if source.parameters != target.parameters:
        ours, theirs = _shown(source.parameters), _shown(target.parameters)
        raise SchemaProjectorError(
            f"Schema parameters not equal. source parameters: {ours} and target parameters: {theirs}"
        )


def _is_promotable(source: Type, target: Type) -> bool:
    return source in _NUMBERS and target in _NUMBERS and _NUMBERS.index(source) <= _NUMBERS.index(target)


def _projected(source: Schema, value: object, target: Schema) -> object:
    items, target_items = source.value_schema, target.value_schema
    if isinstance(value, Struct):
        return _struct(source, value, target)
    if isinstance(value, list) and items is not None and target_items is not None:
        return [project(items, item, target_items) for item in value]
    keys, target_keys = source.key_schema, target.key_schema
    if isinstance(value, dict) and None not in (keys, items, target_keys, target_items):
        return {
            project(keys, key, target_keys): project(items, item, target_items)  # type: ignore[arg-type]
            for key, item in value.items()
        }
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return to_number(target.type, value) if is_number and _is_promotable(source.type, target.type) else value


def _struct(source: Schema, value: Struct, target: Schema) -> Struct:
    made = Struct(target)
    for field in target.fields:
        known = source.field(field.name)
        if known is not None:
            try:
                made.put(field.name, project(known.schema, value.get(field.name), field.schema))
            except SchemaProjectorError as error:
                raise SchemaProjectorError(f"Error projecting {field.name}") from error
        elif field.schema.optional:
            continue
        elif field.schema.default is not None:
            made.put(field.name, field.schema.default)
        else:
            raise SchemaProjectorError(f"Required field `{field.name}` is missing from source schema: {source}")
    return made


def _shown(found: object) -> str:
    if isinstance(found, dict):
        return f"{{{', '.join(f'{key}={value}' for key, value in found.items())}}}"
    return "null" if found is None else str(found)
