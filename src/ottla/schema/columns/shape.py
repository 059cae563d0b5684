"""The Arrow type of an Avro schema, and the slots that its arrays are filled from.

A union with null is a type that may be null. int with long is long, float with double is double. Other unions are
structs with a member for each branch that is not null, of which one has a value: `member0`, `member1` …, as in Spark.
A type that contains itself has no Arrow type, and neither have types of thousands of columns.
"""

from typing import Any, Final

import pyarrow as pa

from ottla.base.frozen import frozen
from ottla.schema.avro.logical_type import logical_type
from ottla.schema.avro.model import Array, Enum, Fixed, Map, Node, Primitive, Record, Union
from ottla.schema.columns.layout import Kind, Slot
from ottla.schema.error import InvalidSchemaError

_SLOTS_MAX: Final = 10_000
_LEVELS_MAX: Final = 60
_NUMBERS: Final = {
    "int": (pa.int32(), 4),
    "long": (pa.int64(), 8),
    "float": (pa.float32(), 4),
    "double": (pa.float64(), 8),
}
_TIMES: Final = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "timestamp-nanos": pa.timestamp("ns", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
    "local-timestamp-nanos": pa.timestamp("ns"),
}
_DIGITS_128: Final = 38
_DIGITS_256: Final = 76
_WIDER: Final = ({"int", "long"}, "long"), ({"float", "double"}, "double")


@frozen
class Shape:
    """One type: where its values go. `parts` are of a record's fields, a list's items, a map's keys and values."""

    node: Node
    slot: int
    type: Any
    parts: tuple["Shape", ...] = ()

    @property
    def is_members(self) -> bool:
        """Whether it stands for a union, with a field for each branch."""
        return isinstance(self.node, Union)


class Shapes:
    """Lays out one schema."""

    def __init__(self, root: Node) -> None:
        self._slots: Final[list[Slot]] = []
        self._open: Final[list[Node]] = []
        self.root: Final = self._shape(root)
        self.slots: Final = tuple(self._slots)

    def _shape(self, node: Node) -> Shape:
        node = without_null(node)
        if any(node is each for each in self._open):
            raise InvalidSchemaError(f"{node.label} contains itself: Arrow has no such type")
        if len(self._open) > _LEVELS_MAX:
            raise InvalidSchemaError(f"the schema is nested deeper than {_LEVELS_MAX}")
        self._open.append(node)
        if isinstance(node, Record):
            shape = self._struct(node, [(field.name, field.type) for field in node.fields])
        elif isinstance(node, Union):
            shape = self._struct(node, [(f"member{at}", each) for at, each in enumerate(members(node))])
        elif isinstance(node, Array):
            slot = self._reserve()
            items = self._shape(node.items)
            self._slots[slot] = Slot(Kind.LIST, 0, (items.slot,))
            shape = Shape(node, slot, pa.list_(items.type), (items,))
        elif isinstance(node, Map):
            shape = self._map(node)
        else:
            shape = self._leaf(node)
        self._open.pop()
        return shape

    def _reserve(self, slot: Slot | None = None) -> int:
        if len(self._slots) >= _SLOTS_MAX:
            raise InvalidSchemaError(f"the schema has more than {_SLOTS_MAX} columns")
        self._slots.append(slot or Slot(Kind.NOTHING))
        return len(self._slots) - 1

    def _struct(self, node: Node, named: list[tuple[str, Node]]) -> Shape:
        slot = self._reserve()
        parts = tuple(self._shape(part) for _, part in named)
        self._slots[slot] = Slot(Kind.STRUCT, 0, tuple(part.slot for part in parts))
        fields = [pa.field(name, part.type) for (name, _), part in zip(named, parts, strict=True)]
        return Shape(node, slot, pa.struct(fields), parts)

    def _map(self, node: Map) -> Shape:
        slot, entries = self._reserve(), self._reserve()
        keys = self._shape(Primitive("string", {}))
        values = self._shape(node.values)
        self._slots[slot] = Slot(Kind.LIST, 0, (entries,))
        self._slots[entries] = Slot(Kind.STRUCT, 0, (keys.slot, values.slot))
        return Shape(node, slot, pa.map_(pa.string(), values.type), (keys, values))

    def _leaf(self, node: Node) -> Shape:
        slot, kind = leaf(node)
        return Shape(node, self._reserve(slot), kind)


def leaf(node: Node) -> tuple[Slot, Any]:
    """The slot and the Arrow type of a type without parts."""
    kind = node.kind
    if kind in _NUMBERS:
        plain, width = _NUMBERS[kind]
        return Slot(Kind.FIXED, width), _TIMES.get(logical_type(node) or "", plain)
    digits = decimal_digits(node)
    if digits is not None:
        precision, scale = digits
        if precision <= _DIGITS_128:
            return Slot(Kind.FIXED, 16), pa.decimal128(precision, scale)
        return Slot(Kind.FIXED, 32), pa.decimal256(precision, scale)
    if isinstance(node, Fixed):
        return Slot(Kind.FIXED, node.size), pa.binary(node.size)
    if kind == "string" or isinstance(node, Enum):
        return Slot(Kind.BYTES), pa.string()
    if kind == "bytes":
        return Slot(Kind.BYTES), pa.binary()
    if kind == "boolean":
        return Slot(Kind.BIT), pa.bool_()
    return Slot(Kind.NOTHING), pa.null()


def decimal_digits(node: Node) -> tuple[int, int] | None:
    """Precision and scale of a decimal that Arrow can hold."""
    if logical_type(node) != "decimal":
        return None
    precision, scale = node.props.get("precision"), node.props.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int) or precision > _DIGITS_256:
        return None
    return precision, scale


def members(union: Union) -> list[Node]:
    """The branches that are not null."""
    return [branch for branch in union.branches if branch.kind != "null"]


def allows_null(node: Node) -> bool:
    """Whether a type is null or a union with null."""
    return node.kind == "null" or (isinstance(node, Union) and len(members(node)) < len(node.branches))


def without_null(node: Node) -> Node:
    """The type of the values that are not null, as one type where that can be."""
    if not isinstance(node, Union):
        return node
    found = members(node)
    if not found:
        return Primitive("null", {})
    if len(found) == 1:
        return found[0]
    if all(logical_type(each) is None for each in found):
        for kinds, wider in _WIDER:
            if {each.kind for each in found} == kinds:
                return Primitive(wider, {})
    return node
