"""A module of dataclasses for an Avro schema: a class for each record, an enum for each enum."""

from typing import Final

from ottla.schema.avro.logical_type import logical_type
from ottla.schema.avro.model import Array, Enum, Field, Map, Missing, Node, Record, Union
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.error import InvalidSchemaError
from ottla.schema.generation.python import (
    PythonClass,
    PythonEnum,
    PythonField,
    PythonType,
    class_name,
    dict_of,
    identifier,
    list_of,
    module_text,
    optional,
)

_PRIMITIVES: Final = {
    "null": PythonType("None", test=lambda value: f"{value} is None"),
    "boolean": PythonType("bool", test=lambda value: f"isinstance({value}, bool)"),
    "int": PythonType("int", test=lambda value: f"isinstance({value}, int)"),
    "long": PythonType("int", test=lambda value: f"isinstance({value}, int)"),
    "float": PythonType("float", test=lambda value: f"isinstance({value}, float)"),
    "double": PythonType("float", test=lambda value: f"isinstance({value}, float)"),
    "bytes": PythonType("bytes", test=lambda value: f"isinstance({value}, bytes)"),
    "fixed": PythonType("bytes", test=lambda value: f"isinstance({value}, bytes)"),
    "string": PythonType("str", test=lambda value: f"isinstance({value}, str)"),
}
_LOGICAL: Final = {
    "decimal": "decimal.Decimal",
    "uuid": "uuid.UUID",
    "date": "datetime.date",
    "time-millis": "datetime.time",
    "time-micros": "datetime.time",
    "timestamp-millis": "datetime.datetime",
    "timestamp-micros": "datetime.datetime",
    "local-timestamp-millis": "datetime.datetime",
    "local-timestamp-micros": "datetime.datetime",
}
"""As fastavro reads them."""


def avro_module(schema: AvroSchema, doc: str) -> str:
    """The module's text."""
    generation = _Generation()
    generation.type_of(schema.root)
    if not generation.parts:
        raise InvalidSchemaError(f"{schema.root.label} has no records or enums: there is no class to generate")
    return module_text(doc, generation.parts, schema.formatted("resolved"))


class _Generation:
    def __init__(self) -> None:
        self.parts: Final[list[PythonClass | PythonEnum]] = []
        self._names: Final[dict[str, str]] = {}

    def type_of(self, node: Node) -> PythonType:
        logical = _LOGICAL.get(logical_type(node) or "")
        if logical is not None:
            return PythonType(logical, test=lambda value: f"isinstance({value}, {logical})")
        if isinstance(node, Array):
            return list_of(self.type_of(node.items))
        if isinstance(node, Map):
            return dict_of(self.type_of(node.values))
        if isinstance(node, Union):
            return self._union(node)
        if isinstance(node, Record):
            return self._record(node)
        if isinstance(node, Enum):
            return self._enum(node)
        return _PRIMITIVES[node.kind]

    def _name(self, full: str) -> tuple[str, bool]:
        """The class of a full name, and whether it is new."""
        if full in self._names:
            return self._names[full], False
        name = class_name(full.rpartition(".")[2])
        if name in self._names.values():
            name = class_name(full.replace(".", " "))
        self._names[full] = name
        return name, True

    def _record(self, node: Record) -> PythonType:
        name, is_new = self._name(node.label)
        if is_new:
            fields = tuple(self._field(field) for field in node.fields)
            self.parts.append(PythonClass(name, node.doc or f"{node.label}.", fields))
        keys = "{" + ", ".join(repr(field.name) for field in node.fields) + "}" if node.fields else "set()"
        return PythonType(
            name,
            lambda value: f"{value}.to_dict()",
            lambda value: f"{name}.from_dict({value})",
            lambda value: f"isinstance({value}, dict) and {value}.keys() == {keys}",
        )

    def _enum(self, node: Enum) -> PythonType:
        name, is_new = self._name(node.label)
        if is_new:
            self.parts.append(PythonEnum(name, node.doc or f"{node.label}.", tuple(node.symbols)))
        symbols = ", ".join(map(repr, node.symbols))
        return PythonType(
            name,
            lambda value: f"{value}.value",
            lambda value: f"{name}({value})",
            lambda value: f"{value} in ({symbols},)",
        )

    def _union(self, node: Union) -> PythonType:
        found = [self.type_of(branch) for branch in node.branches if branch.kind != "null"]
        has_null = len(found) < len(node.branches)
        if len(found) == 1:
            return optional(found[0]) if has_null else found[0]
        if not found:
            return _PRIMITIVES["null"]
        labels = [branch.label for branch in node.branches if branch.kind != "null"]
        annotation = " | ".join(dict.fromkeys([*(each.annotation for each in found), *(["None"] if has_null else [])]))
        if all(each.is_plain for each in found):
            return PythonType(annotation)
        return PythonType(annotation, lambda value: _written(value, found, labels), lambda value: _read(value, found))

    def _field(self, field: Field) -> PythonField:
        kind = self.type_of(field.type)
        return PythonField(field.name, kind, self._default(field, kind))

    def _default(self, field: Field, kind: PythonType) -> str | None:
        node, value = field.type, field.default
        if isinstance(node, Union):
            # A default is of the first branch that fits; only the simple ones become Python's.
            node = next((branch for branch in node.branches if (branch.kind == "null") == (value is None)), node)
        if isinstance(value, Missing) or logical_type(node) is not None:
            return None
        if isinstance(node, Enum):
            return f"{self._name(node.label)[0]}.{identifier(str(value))}" if value in node.symbols else None
        if value is None or isinstance(value, bool):
            return repr(value)
        if isinstance(value, str):
            return repr(value.encode("latin-1")) if node.kind in ("bytes", "fixed") else repr(value)
        if isinstance(value, (list, dict)):
            is_empty = not value and isinstance(node, (Array, Map))
            return f"field(default_factory={'list' if isinstance(value, list) else 'dict'})" if is_empty else None
        return repr(float(value)) if node.kind in ("float", "double") else repr(int(value))


def _written(value: str, found: list[PythonType], labels: list[str]) -> str:
    """Branches that are classes are named, since several could take the same dict."""
    text = value
    for kind, label in zip(found, labels, strict=True):
        if not kind.is_plain and kind.annotation.isidentifier():
            text = f"(({label!r}, {kind.write(value)}) if isinstance({value}, {kind.annotation}) else {text})"
    return text


def _read(value: str, found: list[PythonType]) -> str:
    text = value
    for kind in reversed(found):
        if not kind.is_plain and kind.test is not None:
            text = f"({kind.read(value)} if {kind.test(value)} else {text})"
    return text
