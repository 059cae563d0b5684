"""The one type that values of a JSON Schema have, where they have one: what a column or a class is made for."""

from typing import Final

from ottla.schema.columns.json.layout import JsonKind
from ottla.schema.json_schema.node import (
    Anything,
    Array,
    Boolean,
    Combined,
    Const,
    Criterion,
    Enumeration,
    Node,
    Nothing,
    Null,
    Numeric,
    Object,
    Reference,
    String,
)

_TYPED: Final = (String, Numeric, Boolean, Array, Object)


def plain_type(node: Node) -> tuple[Node | None, bool]:
    """The one type that a schema's values have, None for several or any; and whether null is among them."""
    node = _target(node)
    if isinstance(node, Null):
        return node, True
    if not isinstance(node, Combined):
        return (None, True) if _is_any(node) else (node, False)
    if node.criterion is Criterion.ALL:
        return _all_of(node)
    found = [plain_type(part) for part in node.parts]
    is_nullable = any(nullable for _, nullable in found)
    types = [each for each, _ in found if not isinstance(each, Null)]
    if len(types) == 1:
        return types[0], is_nullable
    numbers = [each for each in types if isinstance(each, Numeric)]
    if numbers and len(numbers) == len(types):
        return next((each for each in numbers if not each.is_integer), numbers[0]), is_nullable
    return None, is_nullable


def _all_of(node: Combined) -> tuple[Node | None, bool]:
    """The part that says the type; the others only narrow it."""
    parts = [_target(part) for part in node.parts]
    found = [part for part in parts if isinstance(part, (*_TYPED, Null, Combined))]
    objects = [part for part in found if isinstance(part, Object)]
    if objects and len(objects) == len(found):
        return _joined(objects), False
    if len(found) != 1:
        return None, True
    return plain_type(found[0])


def _joined(objects: list[Object]) -> Object:
    """An object with the properties of all; of one that several declare, the first one's type."""
    if len(objects) == 1:
        return objects[0]
    whole = Object()
    whole.rest = next((each.rest for each in objects if each.rest is not None), None)
    for each in objects:
        whole.properties.update({name: part for name, part in each.properties.items() if name not in whole.properties})
        whole.patterns.update(each.patterns)
        whole.required |= each.required
    return whole


def _target(node: Node) -> Node:
    seen: list[Node] = []
    while isinstance(node, Reference) and node.target is not None and node not in seen:
        seen.append(node)
        node = node.target
    return node


def _is_any(node: Node) -> bool:
    return not isinstance(node, (*_TYPED, Enumeration, Const))


def leaf_kind(node: Node | None) -> JsonKind:
    """The kind to read a type without parts as; None stands for any type, which is read as its text."""
    if isinstance(node, String):
        return JsonKind.STRING
    if isinstance(node, Numeric):
        return JsonKind.INTEGER if node.is_integer else JsonKind.NUMBER
    if isinstance(node, Boolean):
        return JsonKind.BOOLEAN
    if isinstance(node, Null):
        return JsonKind.NULL
    keys = node.keys if isinstance(node, Enumeration) else {node.key} if isinstance(node, Const) else set()
    return JsonKind.STRING if keys and all(key.startswith('"') for key in keys) else JsonKind.TEXT


def map_values(node: Object) -> Node | None:
    """The type of the values of an object without declared properties; None if any value is allowed."""
    if len(node.patterns) == 1 and isinstance(node.rest, Nothing):
        return next(iter(node.patterns.values()))
    if node.patterns or node.rest is None or isinstance(node.rest, (Anything, Nothing)):
        return None
    return node.rest
