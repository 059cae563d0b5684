"""A module of dataclasses for a JSON Schema: a class for each object with declared properties.

What has no one type is `Any`. A property that is not required is None where the document lacks it.
"""

from typing import Final

from ottla.schema.columns.json.layout import JsonKind
from ottla.schema.columns.json.type import leaf_kind, map_values, plain_type
from ottla.schema.error import InvalidSchemaError
from ottla.schema.generation.python import (
    PythonClass,
    PythonEnum,
    PythonField,
    PythonType,
    class_name,
    dict_of,
    list_of,
    module_text,
    optional,
)
from ottla.schema.json_schema.node import Array, Empty, Node, Object
from ottla.schema.json_schema.schema import JsonSchema

_LEAVES: Final = {
    JsonKind.NULL: PythonType("None"),
    JsonKind.BOOLEAN: PythonType("bool"),
    JsonKind.INTEGER: PythonType("int"),
    JsonKind.NUMBER: PythonType("float"),
    JsonKind.STRING: PythonType("str"),
    JsonKind.TEXT: PythonType("Any"),
}


def json_schema_module(schema: JsonSchema, doc: str) -> str:
    """The module's text."""
    generation = _Generation()
    generation.type_of(schema.root, class_name(schema.name or "Document"))
    if not generation.parts:
        raise InvalidSchemaError("the schema declares no properties: there is no class to generate")
    return module_text(doc, generation.parts, schema.canonical_text)


class _Generation:
    def __init__(self) -> None:
        self.parts: Final[list[PythonClass | PythonEnum]] = []
        self._names: Final[dict[int, str]] = {}

    def type_of(self, given: Node, name: str) -> PythonType:
        """The type of a schema; `name` is for a class that it may need."""
        node, is_nullable = plain_type(given)
        found = self._plain(node, name)
        return optional(found) if is_nullable else found

    def _plain(self, node: Node | None, name: str) -> PythonType:
        if isinstance(node, Array):
            items = Empty() if node.tuple or node.each is None else node.each
            return list_of(self.type_of(items, f"{name}Item"))
        if isinstance(node, Object):
            if node.properties:
                return self._object(node, name)
            values = map_values(node)
            return dict_of(PythonType("Any") if values is None else self.type_of(values, f"{name}Value"))
        return _LEAVES[leaf_kind(node)]

    def _object(self, node: Object, wish: str) -> PythonType:
        name = self._names.get(id(node))
        if name is None:
            self._names[id(node)] = name = self._free(wish)
            fields = tuple(self._field(node, each, part, name) for each, part in node.properties.items())
            self.parts.append(PythonClass(name, f"{name}.", fields))
        found = name
        return PythonType(found, lambda value: f"{value}.to_dict()", lambda value: f"{found}.from_dict({value})")

    def _free(self, wish: str) -> str:
        taken, number, name = set(self._names.values()), 1, wish
        while name in taken:
            number += 1
            name = f"{wish}{number}"
        return name

    def _field(self, node: Object, name: str, part: Node, owner: str) -> PythonField:
        kind = self.type_of(part, f"{owner}{class_name(name)}")
        if name in node.required:
            return PythonField(name, kind)
        # None of a property that may be null as well leaves it out.
        return PythonField(name, optional(kind), "None", is_left_out=True)
