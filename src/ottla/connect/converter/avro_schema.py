"""Avro's schemas for Connect's, and back, as Confluent's Avro converter writes them. Pure: schemas are JSON.

What Avro lacks stands beside it: `connect.name`, `connect.version`, `connect.parameters`, `connect.doc`,
`connect.type`. An optional value is a union with null. A union of other types becomes a struct with a field for each;
an enum is a string.
"""

from collections.abc import Mapping
from typing import Any, Final

from ottla.connect.converter.avro_value import plain_default, read_default
from ottla.connect.data.builder import array, mapping, struct
from ottla.connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP
from ottla.connect.data.schema import STRING, Schema
from ottla.connect.data.type import Type
from ottla.connect.error import DataError

_PACKAGE: Final = "io.confluent.connect.avro"
UNION: Final = f"{_PACKAGE}.Union"
_ENUM: Final = f"{_PACKAGE}.Enum"
_TYPES: Final = {
    Type.INT8: "int", Type.INT16: "int", Type.INT32: "int", Type.INT64: "long", Type.FLOAT32: "float",
    Type.FLOAT64: "double", Type.BOOLEAN: "boolean", Type.STRING: "string", Type.BYTES: "bytes",
}  # fmt: skip
_PRIMITIVES: Final = {
    "int": Type.INT32, "long": Type.INT64, "float": Type.FLOAT32, "double": Type.FLOAT64, "boolean": Type.BOOLEAN,
    "string": Type.STRING, "bytes": Type.BYTES,
}  # fmt: skip
_NARROW: Final = {"int8": Type.INT8, "int16": Type.INT16}
_LOGICAL: Final = {DECIMAL: "decimal", DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
_CONNECT_NAMES: Final = {logical: name for name, logical in _LOGICAL.items()}
_PRECISION: Final = 64


def to_avro(schema: Schema) -> Any:
    """The Avro schema.

    >>> from ottla.connect.data.schema import INT16, OPTIONAL_STRING
    >>> to_avro(OPTIONAL_STRING), to_avro(INT16)
    (['null', 'string'], {'type': 'int', 'connect.type': 'int16'})
    """
    return _Writer().written(schema)


def from_avro(avro: Any) -> Schema:
    """The schema of what was written with an Avro schema.

    >>> from_avro(["null", {"type": "long", "logicalType": "timestamp-millis"}])
    Schema{org.apache.kafka.connect.data.Timestamp:INT64}
    """
    return _Reader().read(avro)


class _Writer:
    """One schema; a name is defined where it first occurs."""

    def __init__(self) -> None:
        self._defined: dict[str, Schema] = {}
        self._nameless = 0

    def written(self, schema: Schema) -> Any:
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
            return self._noted(self._map(schema.key_schema, schema.value_schema), schema)
        name = _TYPES.get(schema.type)
        if name is None:
            raise DataError(f"{schema} has no schema of its parts")
        made = self._noted({"type": name}, schema)
        return name if list(made) == ["type"] else made

    def _record(self, schema: Schema) -> Any:
        name = schema.name
        if name is None:
            self._nameless += 1
            name = f"{_PACKAGE}.ConnectDefault{self._nameless if self._nameless > 1 else ''}"
        known = self._defined.get(name)
        if known is not None:
            if known.fields != schema.fields:
                raise DataError(f"two different structs have the name {name}")
            return name
        self._defined[name] = schema
        namespace, _, short = name.rpartition(".")
        made: dict[str, Any] = {"type": "record", "name": short}
        if namespace:
            made["namespace"] = namespace
        made["fields"] = [self._field(each.name, each.schema) for each in schema.fields]
        return self._noted(made, schema)

    def _field(self, name: str, schema: Schema) -> dict[str, Any]:
        made: dict[str, Any] = {"name": name, "type": self.written(schema)}
        if schema.doc is not None:
            made["doc"] = schema.doc
        if schema.optional or schema.default is not None:
            made["default"] = plain_default(schema)
        return made

    def _map(self, keys: Schema, values: Schema) -> dict[str, Any]:
        if keys.type is Type.STRING and not keys.optional:
            return {"type": "map", "values": self.written(values)}
        entry = {
            "type": "record", "name": "MapEntry", "namespace": _PACKAGE,
            "fields": [self._field("key", keys), self._field("value", values)],
        }  # fmt: skip
        return {"type": "array", "items": entry}

    @staticmethod
    def _noted(made: dict[str, Any], schema: Schema) -> dict[str, Any]:
        """With what Avro has no place for."""
        if schema.type in (Type.INT8, Type.INT16):
            made["connect.type"] = schema.type.value
        parameters = schema.parameters or {}
        if schema.name == DECIMAL:
            made |= {"scale": int(parameters.get("scale", "0")), "precision": _PRECISION}
        if schema.doc is not None and schema.type is not Type.STRUCT:
            made["connect.doc"] = schema.doc
        elif schema.doc is not None:
            made["doc"] = schema.doc
        if schema.version is not None:
            made["connect.version"] = schema.version
        if parameters:
            made["connect.parameters"] = dict(parameters)
        if schema.name is not None:
            made["connect.name"] = schema.name
        logical = _LOGICAL.get(schema.name or "")
        return made | {"logicalType": logical} if logical is not None else made


class _Reader:
    """One schema; names are looked up where they are used."""

    def __init__(self) -> None:
        self._named: dict[str, Schema | None] = {}

    def read(self, avro: Any, namespace: str = "") -> Schema:
        if isinstance(avro, list):
            return self._union(avro, namespace)
        if isinstance(avro, str):
            return self._by_name(avro, namespace)
        kind = avro.get("type")
        if isinstance(kind, (dict, list)):
            return self.read(kind, namespace)
        return _annotated(self._plain(avro, kind, namespace), avro)

    def _by_name(self, name: str, namespace: str) -> Schema:
        if name in _PRIMITIVES:
            return Schema(_PRIMITIVES[name])
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        found = self._named.get(full, self._named.get(name))
        if found is None:
            raise DataError(f"the Avro schema refers to {full}, which contains itself or is not there")
        return found

    def _plain(self, avro: Mapping[str, Any], kind: Any, namespace: str) -> Schema:
        if kind == "record":
            return self._record(avro, namespace)
        if kind == "array":
            items = avro["items"]
            if isinstance(items, dict) and items.get("name") == "MapEntry" and items.get("namespace") == _PACKAGE:
                key, value = (self.read(each["type"], namespace) for each in items["fields"])
                return mapping(key, value)
            return array(self.read(items, namespace))
        if kind == "map":
            return mapping(STRING, self.read(avro["values"], namespace))
        if kind == "enum":
            name = _full_name(avro, namespace)
            symbols = {f"{_ENUM}.{symbol}": symbol for symbol in avro["symbols"]}
            return self._remembered(name, Schema(Type.STRING, parameters={_ENUM: name, **symbols}))
        if kind == "fixed":
            return self._remembered(_full_name(avro, namespace), Schema(Type.BYTES))
        return self._by_name(str(kind), namespace)

    def _record(self, avro: Mapping[str, Any], namespace: str) -> Schema:
        name = _full_name(avro, namespace)
        self._named[name] = None
        inner = name.rpartition(".")[0]
        fields = [(each["name"], self._field(each, inner)) for each in avro["fields"]]
        made = struct(fields, name=name)
        return self._remembered(name, made if avro.get("doc") is None else made.replace(doc=avro["doc"]))

    def _field(self, field: Mapping[str, Any], namespace: str) -> Schema:
        found = self.read(field["type"], namespace)
        if field.get("default") is not None:
            found = found.replace(default=read_default(found, field["default"]))
        return found

    def _union(self, avro: list[Any], namespace: str) -> Schema:
        kinds = [each for each in avro if each != "null"]
        is_optional = len(kinds) < len(avro)
        if len(kinds) == 1:
            found = self.read(kinds[0], namespace)
            return found.replace(optional=True) if is_optional else found
        parts = [self.read(each, namespace).replace(optional=True) for each in kinds]
        names = [
            (part.name or kind if isinstance(kind, dict) else kind) for kind, part in zip(kinds, parts, strict=True)
        ]
        fields = [(str(name).rpartition(".")[2], part) for name, part in zip(names, parts, strict=True)]
        return struct(fields, name=UNION, optional=is_optional)

    def _remembered(self, name: str, schema: Schema) -> Schema:
        self._named[name] = schema
        return schema


def _annotated(schema: Schema, avro: Mapping[str, Any]) -> Schema:
    """With what Avro has no place for."""
    changes: dict[str, Any] = {}
    narrow = _NARROW.get(str(avro.get("connect.type")))
    if narrow is not None and schema.type is Type.INT32:
        changes["type"] = narrow
    name = avro.get("connect.name") or _CONNECT_NAMES.get(str(avro.get("logicalType")))
    if name is not None:
        changes["name"] = name
    if name in _LOGICAL:
        changes["version"] = 1
    if name == DECIMAL:
        changes["parameters"] = {"scale": str(avro.get("scale", 0))}
    for key, change in (("connect.version", "version"), ("connect.parameters", "parameters"), ("connect.doc", "doc")):
        if avro.get(key) is not None:
            changes[change] = avro[key]
    if schema.name is not None and schema.name.startswith(f"{_PACKAGE}.ConnectDefault") and "connect.name" not in avro:
        changes["name"] = None
    return schema.replace(**changes) if changes else schema


def _full_name(avro: Mapping[str, Any], namespace: str) -> str:
    name, own = str(avro["name"]), str(avro.get("namespace", namespace))
    return name if "." in name or not own else f"{own}.{name}"
