"""The Arrow type of a JSON Schema, and the plans that its documents are read by.

Objects with declared properties are structs, others with a schema for what they hold are maps. What has no one type (a
union, a tuple, anything) is text: the JSON itself. A type that contains itself has no Arrow type.
"""

from typing import Any, Final

import pyarrow as pa

from ottla.base.frozen import frozen
from ottla.schema.columns.json.layout import DocumentLayout, JsonKind, NodePlan, PropertyPlan
from ottla.schema.columns.json.type import leaf_kind, map_values, plain_type
from ottla.schema.columns.layout import Kind, Slot
from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_schema.node import Array, Empty, Node, Object

_SLOTS_MAX: Final = 10_000
_LEVELS_MAX: Final = 60
_LEAVES: Final = {
    JsonKind.NULL: (Slot(Kind.NOTHING), pa.null()),
    JsonKind.BOOLEAN: (Slot(Kind.BIT), pa.bool_()),
    JsonKind.INTEGER: (Slot(Kind.FIXED, 8), pa.int64()),
    JsonKind.NUMBER: (Slot(Kind.FIXED, 8), pa.float64()),
    JsonKind.STRING: (Slot(Kind.BYTES), pa.string()),
    JsonKind.TEXT: (Slot(Kind.BYTES), pa.string()),
}


@frozen
class DocumentShape:
    """One type: where its values go, and the plan that puts them there."""

    node: int
    kind: JsonKind
    slot: int
    type: Any
    is_nullable: bool
    parts: "tuple[DocumentShape, ...]" = ()
    required: frozenset[str] = frozenset()


class DocumentShapes:
    """Lays out one schema."""

    def __init__(self, root: Node) -> None:
        self._slots: Final[list[Slot]] = []
        self._nodes: Final[list[NodePlan]] = []
        self._reasons: Final = [""]
        self._open: Final[list[Node]] = []
        self.root: Final = self._shape(root)
        self.slots: Final = tuple(self._slots)
        self.layout: Final = DocumentLayout(tuple(self._nodes), tuple(self._reasons))

    def _shape(self, given: Node) -> DocumentShape:
        node, is_nullable = plain_type(given)
        if node is not None and any(node is each for each in self._open):
            raise InvalidSchemaError("the schema contains itself: Arrow has no such type")
        if len(self._open) > _LEVELS_MAX:
            raise InvalidSchemaError(f"the schema is nested deeper than {_LEVELS_MAX}")
        if len(self._slots) >= _SLOTS_MAX:
            raise InvalidSchemaError(f"the schema has more than {_SLOTS_MAX} columns")
        if node is None or not isinstance(node, (Array, Object)):
            return self._leaf(leaf_kind(node), is_nullable=is_nullable)
        self._open.append(node)
        shape = self._nested(node, is_nullable=is_nullable)
        self._open.pop()
        return shape

    def _nested(self, node: Array | Object, *, is_nullable: bool) -> DocumentShape:
        if isinstance(node, Array):
            return self._list(node, is_nullable=is_nullable)
        if node.properties:
            return self._object(node, is_nullable=is_nullable)
        values = map_values(node)
        if values is None:
            return self._leaf(JsonKind.TEXT, is_nullable=is_nullable)
        return self._map(values, is_nullable=is_nullable)

    def _leaf(self, kind: JsonKind, *, is_nullable: bool) -> DocumentShape:
        slot, arrow = _LEAVES[kind]
        number, place = self._reserve(slot)
        is_nullable = is_nullable or kind in (JsonKind.TEXT, JsonKind.NULL)
        self._nodes[number] = NodePlan(kind, place, is_nullable)
        return DocumentShape(number, kind, place, arrow, is_nullable)

    def _reserve(self, slot: Slot) -> tuple[int, int]:
        """The numbers of a plan and a slot."""
        self._nodes.append(NodePlan(JsonKind.NULL, 0, is_nullable=True))
        self._slots.append(slot)
        return len(self._nodes) - 1, len(self._slots) - 1

    def _object(self, node: Object, *, is_nullable: bool) -> DocumentShape:
        number, slot = self._reserve(Slot(Kind.STRUCT))
        parts = tuple(self._shape(part) for part in node.properties.values())
        properties = []
        for name, part in zip(node.properties, parts, strict=True):
            reason = 0
            if name in node.required:
                reason = len(self._reasons)
                self._reasons.append(f"the property {name} is required, and missing")
            properties.append(PropertyPlan(name.encode("utf-8", "replace"), part.node, reason))
        self._slots[slot] = Slot(Kind.STRUCT, 0, tuple(part.slot for part in parts))
        self._nodes[number] = NodePlan(JsonKind.OBJECT, slot, is_nullable, properties=tuple(properties))
        fields = [pa.field(name, part.type) for name, part in zip(node.properties, parts, strict=True)]
        required = frozenset(node.required)
        return DocumentShape(number, JsonKind.OBJECT, slot, pa.struct(fields), is_nullable, parts, required)

    def _list(self, node: Array, *, is_nullable: bool) -> DocumentShape:
        number, slot = self._reserve(Slot(Kind.LIST))
        items = self._shape(node.each or Empty()) if not node.tuple else self._shape(Empty())
        self._slots[slot] = Slot(Kind.LIST, 0, (items.slot,))
        self._nodes[number] = NodePlan(JsonKind.LIST, slot, is_nullable, items.node)
        return DocumentShape(number, JsonKind.LIST, slot, pa.list_(items.type), is_nullable, (items,))

    def _map(self, given: Node, *, is_nullable: bool) -> DocumentShape:
        number, slot = self._reserve(Slot(Kind.LIST))
        _, entries = self._reserve(Slot(Kind.STRUCT))
        keys = self._leaf(JsonKind.STRING, is_nullable=False)
        values = self._shape(given)
        self._slots[slot] = Slot(Kind.LIST, 0, (entries,))
        self._slots[entries] = Slot(Kind.STRUCT, 0, (keys.slot, values.slot))
        self._nodes[number] = NodePlan(JsonKind.MAP, slot, is_nullable, values.node)
        arrow = pa.map_(pa.string(), values.type)
        return DocumentShape(number, JsonKind.MAP, slot, arrow, is_nullable, (keys, values))
