"""Connect's schemas for Avro's, as Confluent's Avro converter reads them. Pure: schemas are JSON.

A union with null is an optional value, another union a struct with a field for each type. An enum is a text whose
parameters have its symbols, a fixed bytes with their size. Docs of records and fields are parameters of the struct.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from ottla.connect.converter.avro_option import (
    DEFAULT_NAME,
    ENUM_DEFAULT,
    ENUM_DOC,
    FIELD_DEFAULT,
    FIELD_DOC,
    FIXED_SIZE,
    GENERAL_UNION,
    INTERNAL_TYPE,
    MAP_ENTRY,
    PACKAGE,
    PRECISION,
    PRECISION_DEFAULT,
    RECORD_DOC,
    UNION,
    AvroOption,
)
from ottla.connect.converter.avro_value import read_default
from ottla.connect.data.builder import array, mapping, struct
from ottla.connect.data.logical import DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA, decimal_schema
from ottla.connect.data.schema import STRING, Schema
from ottla.connect.data.type import Type
from ottla.connect.errors import DataError

_log: Final = logging.getLogger(__name__)
_PRIMITIVES: Final = {
    "int": Type.INT32, "long": Type.INT64, "float": Type.FLOAT32, "double": Type.FLOAT64, "boolean": Type.BOOLEAN,
    "string": Type.STRING, "bytes": Type.BYTES,
}  # fmt: skip
_NAMED: Final = ("record", "enum", "fixed")
_NARROW: Final = {"int8": Type.INT8, "int16": Type.INT16}
_MOMENTS: Final = {
    ("int", "date"): DATE_SCHEMA, ("int", "time-millis"): TIME_SCHEMA, ("long", "timestamp-millis"): TIMESTAMP_SCHEMA,
}  # fmt: skip


def from_avro(avro: Any, option: AvroOption | None = None) -> Schema:
    """The schema of what was written with an Avro schema.

    >>> from_avro(["null", {"type": "long", "logicalType": "timestamp-millis"}])
    Schema{org.apache.kafka.connect.data.Timestamp:INT64}
    """
    return _Reader(option or AvroOption()).read(avro)


class _Reader:
    """One schema; names are looked up where they are used."""

    def __init__(self, option: AvroOption) -> None:
        self._option: Final = option
        self._named: Final[dict[str, Schema | None]] = {}
        self._unions = 0

    def read(self, avro: Any, namespace: str = "") -> Schema:
        if isinstance(avro, list):
            return self._union(avro, namespace)
        if isinstance(avro, str):
            return self._by_name(avro, namespace)
        kind = avro.get("type")
        if isinstance(kind, (dict, list)):
            return self.read(kind, namespace)
        if kind not in _NAMED:
            return self._annotated(self._plain(avro, kind, namespace), avro, None)
        name = _full_name(avro, namespace)
        self._named[name] = None
        made = self._annotated(self._defined(avro, kind, name), avro, name)
        self._named[name] = made
        return made

    def _by_name(self, name: str, namespace: str) -> Schema:
        if name in _PRIMITIVES:
            return Schema(_PRIMITIVES[name])
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        found = self._named.get(full, self._named.get(name))
        if found is None:
            raise DataError(f"the Avro schema refers to {full}, which contains itself or is not there")
        return found

    def _plain(self, avro: Mapping[str, Any], kind: Any, namespace: str) -> Schema:
        if kind == "array":
            items = avro["items"]
            if isinstance(items, dict) and _is_entry(items, namespace):
                self._named[_full_name(items, namespace)] = None
                key, value = (self.read(each["type"], namespace) for each in items["fields"])
                made = mapping(key, value)
                self._named[_full_name(items, namespace)] = made
                return made
            found = self.read(items, namespace)
            is_again = isinstance(items, str) and items.rpartition(".")[2] == MAP_ENTRY and found.type is Type.MAP
            return found if is_again else array(found)
        if kind == "map":
            return mapping(STRING, self.read(avro["values"], namespace))
        logical = str(avro.get("logicalType"))
        if kind == "bytes" and logical == "decimal":
            return _decimal(avro)
        if kind == "int" and logical == "None" and avro.get("connect.type") in _NARROW:
            return Schema(_NARROW[avro["connect.type"]])
        return _MOMENTS.get((kind, logical)) or self._by_name(str(kind), namespace)

    def _defined(self, avro: Mapping[str, Any], kind: str, name: str) -> Schema:
        if kind == "record":
            return self._record(avro, name.rpartition(".")[0])
        if kind == "enum":
            return self._enum(avro, name)
        made = _decimal(avro) if avro.get("logicalType") == "decimal" else Schema(Type.BYTES)
        return made.replace(parameters={**(made.parameters or {}), FIXED_SIZE: str(avro["size"])})

    def _enum(self, avro: Mapping[str, Any], name: str) -> Schema:
        option, parameters = self._option, dict[str, str]()
        short = name.rpartition(".")[2]
        if option.annotates and avro.get("doc") is not None:
            parameters["connect.enum.doc" if option.discards_docs else f"{ENUM_DOC}{short}"] = avro["doc"]
        if option.annotates and not option.discards_docs and avro.get("default") is not None:
            parameters[f"{ENUM_DEFAULT}{short}"] = avro["default"]
        word = option.enum_parameter
        symbols = {
            f"{word}.{symbol}": str(number) if option.generalizes else symbol
            for number, symbol in enumerate(avro["symbols"])
        }
        return Schema(Type.STRING, parameters={**parameters, word: name, **symbols})

    def _record(self, avro: Mapping[str, Any], namespace: str) -> Schema:
        fields = [(each["name"], self._field(each, namespace)) for each in avro["fields"]]
        made = struct(fields)
        if self._option.discards_docs or not self._option.annotates:
            return made
        docs = {f"{FIELD_DOC}{each['name']}": each["doc"] for each in avro["fields"] if each.get("doc") is not None}
        own = {RECORD_DOC: avro["doc"]} if avro.get("doc") is not None else {}
        return made.replace(parameters={**own, **docs} or None)

    def _field(self, field: Mapping[str, Any], namespace: str) -> Schema:
        found = self.read(field["type"], namespace)
        default = field.get("default")
        if default is not None:
            if self._option.annotates and not self._option.discards_docs and found.default is None:
                found = found.replace(parameters={**(found.parameters or {}), FIELD_DEFAULT: "true"})
            found = _with_default(found, default)
        if self._option.discards_docs and field.get("doc") is not None:
            found = found.replace(doc=field["doc"])
        return found

    def _union(self, avro: list[Any], namespace: str) -> Schema:
        kinds = [each for each in avro if each != "null"]
        is_optional = len(kinds) < len(avro)
        if len(kinds) == 1 and (is_optional or self._option.flattens_singletons):
            found = self.read(kinds[0], namespace)
            return found.replace(optional=True) if is_optional else found
        option, name, parameters = self._option, UNION, None
        if option.generalizes:
            name = f"connect_union_{self._unions}"
            parameters = {GENERAL_UNION: name}
            self._unions += 1
        parts = [
            (self._member(kind, number, namespace), self.read(kind, namespace).replace(optional=True))
            for number, kind in enumerate(avro)
            if kind != "null"
        ]
        return struct(parts, name=name, optional=is_optional).replace(parameters=parameters)

    def _member(self, kind: Any, number: int, namespace: str) -> str:
        """The name of the field for one type of a union."""
        if self._option.generalizes:
            return f"connect_union_field_{number}"
        if isinstance(kind, dict):
            named = kind.get("type") in _NAMED
            name = _full_name(kind, namespace) if named else str(kind["type"])
        else:
            name = kind if "." in kind or kind in _PRIMITIVES or not namespace else f"{namespace}.{kind}"
        return name if self._option.enhances else name.rpartition(".")[2]

    def _annotated(self, schema: Schema, avro: Mapping[str, Any], name: str | None) -> Schema:
        """With what Avro has no place for."""
        option, changes = self._option, dict[str, Any]()
        if avro.get("connect.version") is not None:
            changes["version"] = avro["connect.version"]
        noted = avro.get("connect.parameters") if option.annotates else None
        kept = {key: str(value) for key, value in avro.items() if key.startswith("avro")}
        if noted or kept:
            changes["parameters"] = {**(schema.parameters or {}), **(noted or {}), **kept}
        doc = avro.get("connect.doc") if option.annotates else None
        if option.discards_docs:
            doc = avro.get("doc", avro.get("connect.doc"))
        if doc is not None:
            changes["doc"] = doc
        name = avro.get("connect.name", name)
        if name is not None and not name.startswith(DEFAULT_NAME) and schema.name is None:
            changes["name"] = name
        found = schema.replace(**changes) if changes else schema
        default = avro.get("connect.default")
        return found if default is None else _with_default(found, default)


def _with_default(schema: Schema, default: object) -> Schema:
    """A default that its type does not have is passed by, as Avro's own library does."""
    try:
        return schema.replace(default=read_default(schema, default))
    except (DataError, TypeError, ValueError, KeyError, AttributeError) as error:
        _log.warning("Ignoring invalid default for schema %s: %s", schema.name, error)
        return schema


def _decimal(avro: Mapping[str, Any]) -> Schema:
    made = decimal_schema(int(avro.get("scale", 0)))
    precision = avro.get("precision", PRECISION_DEFAULT)
    if precision == PRECISION_DEFAULT:
        return made
    return made.replace(parameters={**(made.parameters or {}), PRECISION: str(precision)})


def _is_entry(items: Mapping[str, Any], namespace: str) -> bool:
    return items.get(INTERNAL_TYPE) == MAP_ENTRY or (
        items.get("type") == "record" and _full_name(items, namespace) == f"{PACKAGE}.{MAP_ENTRY}"
    )


def _full_name(avro: Mapping[str, Any], namespace: str) -> str:
    name, own = str(avro["name"]), str(avro.get("namespace", namespace))
    return name if "." in name or not own else f"{own}.{name}"
