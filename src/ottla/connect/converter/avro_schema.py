"""Avro's schemas for Connect's, as Confluent's Avro converter writes them. Pure: schemas are JSON.

What Avro lacks stands beside it: `connect.name`, `connect.version`, `connect.parameters`, `connect.doc`,
`connect.default`, `connect.type`. An optional value is a union with null; a struct that stands for a union is that
union. A name is defined where it first occurs.
"""

from typing import Any, Final

from ottla.connect.converter.avro_option import (
    DEFAULT_NAME,
    ENUM_DEFAULT,
    ENUM_DOC,
    FIELD_DEFAULT,
    FIELD_DOC,
    INTERNAL_TYPE,
    MAP_ENTRY,
    PACKAGE,
    PRECISION,
    PRECISION_DEFAULT,
    RECORD_DOC,
    AvroOption,
    fixed_size,
    is_union,
)
from ottla.connect.converter.avro_value import plain_default
from ottla.connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP
from ottla.connect.data.schema import Field, Schema
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

_TYPES: Final = {
    Type.INT8: "int", Type.INT16: "int", Type.INT32: "int", Type.INT64: "long", Type.FLOAT32: "float",
    Type.FLOAT64: "double", Type.BOOLEAN: "boolean", Type.STRING: "string", Type.BYTES: "bytes",
}  # fmt: skip
_LOGICAL: Final = {DECIMAL: "decimal", DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}


def to_avro(schema: Schema, option: AvroOption | None = None) -> Any:
    """The Avro schema.

    >>> from ottla.connect.data.schema import INT16, OPTIONAL_STRING
    >>> to_avro(OPTIONAL_STRING), to_avro(INT16)
    (['null', 'string'], {'type': 'int', 'connect.type': 'int16'})
    """
    return _Writer(option or AvroOption()).written(schema)


class _Writer:
    """One schema."""

    def __init__(self, option: AvroOption) -> None:
        self._option: Final = option
        self._defined: Final[dict[str, object]] = {}
        self._nameless = 0

    def written(self, schema: Schema) -> Any:
        if is_union(schema):
            nothing = ["null"] if schema.optional else []
            return [*nothing, *(self._required(each.schema) for each in schema.fields)]
        found = self._required(schema)
        if not schema.optional:
            return found
        # A default has to be of the union's first type.
        return ["null", found] if schema.default is None else [found, "null"]

    def _required(self, schema: Schema) -> Any:
        if schema.type is Type.STRUCT:
            return self._record(schema)
        if schema.type is Type.ARRAY and schema.value_schema is not None:
            return self._noted({"type": "array", "items": self.written(schema.value_schema)}, schema)
        if schema.type is Type.MAP and schema.key_schema is not None and schema.value_schema is not None:
            return self._noted(self._map(schema, schema.key_schema, schema.value_schema), schema)
        if self._option.is_enum(schema):
            return self._enum(schema)
        size = fixed_size(schema)
        if size is not None:
            return self._fixed(schema, size)
        name = _TYPES.get(schema.type)
        if name is None:
            raise DataError(f"{schema} has no schema of its parts")
        made = self._noted({"type": name}, schema)
        return name if list(made) == ["type"] else made

    def _record(self, schema: Schema) -> Any:
        name = self._name(schema)
        if self._is_known(name, schema.fields):
            return name
        made = {"type": "record", **_split(name)}
        parameters = schema.parameters or {}
        doc = parameters.get("connect.record.doc" if self._option.discards_docs else RECORD_DOC)
        made |= {"doc": doc} if doc is not None else {}
        made["fields"] = [self._field(each, parameters.get(f"{FIELD_DOC}{each.name}")) for each in schema.fields]
        return self._noted(made, schema)

    def _field(self, field: Field, doc: str | None) -> dict[str, Any]:
        schema = field.schema
        made: dict[str, Any] = {"name": self._option.name(field.name), "type": self.written(schema)}
        doc = schema.doc if self._option.discards_docs else doc
        made |= {"doc": doc} if doc is not None else {}
        if schema.optional or schema.default is not None:
            made["default"] = plain_default(schema, self._option)
        return made

    def _enum(self, schema: Schema) -> Any:
        parameters, word = schema.parameters or {}, self._option.enum_parameter
        name = parameters[word]
        symbols = [key.removeprefix(f"{word}.") for key in parameters if key.startswith(f"{word}.")]
        if self._is_known(name, symbols):
            return name
        made = {"type": "enum", **_split(name)}
        short = (schema.name or name).rpartition(".")[2]
        doc = parameters.get("connect.enum.doc" if self._option.discards_docs else f"{ENUM_DOC}{short}")
        made |= {"doc": doc} if doc is not None else {}
        made["symbols"] = symbols
        default = None if self._option.discards_docs else parameters.get(f"{ENUM_DEFAULT}{short}")
        made |= {"default": default} if default is not None else {}
        return self._noted(made, schema)

    def _fixed(self, schema: Schema, size: int) -> Any:
        name = self._name(schema)
        if self._is_known(name, size):
            return name
        return self._noted({"type": "fixed", **_split(name), "size": size}, schema)

    def _map(self, schema: Schema, keys: Schema, values: Schema) -> dict[str, Any]:
        if self._option.is_avro_map(schema):
            return {"type": "map", "values": self.written(values)}
        name = f"{PACKAGE}.{MAP_ENTRY}" if schema.name is None else self._name(schema)
        if self._is_known(name, (keys, values)):
            return {"type": "array", "items": name}
        fields = [self._field(Field(*each), None) for each in (("key", 0, keys), ("value", 1, values))]
        entry: dict[str, Any] = {"type": "record", **_split(name), "fields": fields}
        entry |= {INTERNAL_TYPE: MAP_ENTRY} if schema.name is not None else {}
        return {"type": "array", "items": entry}

    def _name(self, schema: Schema) -> str:
        if schema.name is not None:
            return self._option.full_name(schema.name)
        self._nameless += 1
        return f"{DEFAULT_NAME}{self._nameless if self._nameless > 1 else ''}"

    def _is_known(self, name: str, parts: object) -> bool:
        """Whether a name stands for these parts already; if for none, it does from now on."""
        is_known = name in self._defined
        if self._defined.setdefault(name, parts) != parts:
            raise DataError(f"two different structs have the name {name}")
        return is_known

    def _noted(self, made: dict[str, Any], schema: Schema) -> dict[str, Any]:
        """With what Avro has no place for."""
        parameters = schema.parameters or {}
        if schema.name == DECIMAL:
            precision = int(parameters.get(PRECISION, PRECISION_DEFAULT))
            made |= {"scale": int(parameters.get("scale", "0")), "precision": precision}
        if self._option.annotates:
            made |= self._annotations(schema)
        logical = _LOGICAL.get(schema.name or "")
        made |= {"logicalType": logical} if logical is not None else {}
        return made | {name: value for name, value in parameters.items() if name.startswith("avro")}

    def _annotations(self, schema: Schema) -> dict[str, Any]:
        parameters = dict(schema.parameters or {})
        is_fields = parameters.get(FIELD_DEFAULT) is not None and not self._option.discards_docs
        if is_fields:
            del parameters[FIELD_DEFAULT]
        notes = {
            "connect.doc": schema.doc,
            "connect.version": schema.version,
            "connect.parameters": parameters or None,
            "connect.default": None if is_fields else plain_default(schema, self._option),
            "connect.name": schema.name,
            "connect.type": schema.type.value if schema.type in (Type.INT8, Type.INT16) else None,
        }
        return {name: value for name, value in notes.items() if value is not None}


def _split(name: str) -> dict[str, Any]:
    namespace, _, short = name.rpartition(".")
    return {"name": short, "namespace": namespace} if namespace else {"name": short}
