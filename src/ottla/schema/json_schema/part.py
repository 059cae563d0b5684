"""Gathers the keywords of one schema: those of one kind in one node, several nodes in an `allOf`."""

from ottla.schema.json_schema.keyword import Keywords
from ottla.schema.json_schema.node import (
    MERGED,
    Array,
    Boolean,
    Combined,
    Criterion,
    Empty,
    Node,
    Null,
    Numeric,
    Object,
    String,
)


def typed(kind: str) -> Node | None:
    """The node that `type` asks for; None for a type that is not one."""
    if kind == "integer":
        node = Numeric()
        node.is_integer = True
        return node
    made = _TYPES.get(kind)
    return made() if made else None


_TYPES: dict[str, type[Node]] = {
    "string": String,
    "number": Numeric,
    "boolean": Boolean,
    "null": Null,
    "array": Array,
    "object": Object,
}


def limit_string(node: String, keywords: Keywords) -> None:
    """Sets what keywords say about the length of strings and their pattern."""
    node.length_min = keywords.integer("minLength")
    node.length_max = keywords.integer("maxLength")
    node.pattern = keywords.pattern("pattern")


def limit_array(node: Array, keywords: Keywords) -> None:
    """Sets what keywords say about the number of items."""
    node.items_min = keywords.integer("minItems")
    node.items_max = keywords.integer("maxItems")
    node.unique = bool(keywords.boolean("uniqueItems"))


def limit_numeric(node: Numeric, keywords: Keywords) -> None:
    """Sets the ends of a range that belong to it, and the step."""
    node.minimum = keywords.number("minimum")
    node.maximum = keywords.number("maximum")
    node.multiple_of = keywords.number("multipleOf")


def joined(parts: list[Node]) -> Node:
    """One node for all keywords of a schema, in the order written.

    Several types are an `anyOf`; keywords of a kind that is among them go into that branch.
    """
    whole: Node | None = None
    for part in parts:
        whole = part if whole is None else _join(whole, part)
    if whole is None:
        return Empty()
    if isinstance(whole, Combined) and whole.implied and whole.criterion is Criterion.ALL:
        if not whole.parts:
            return Empty()
        if len(whole.parts) == 1:
            return whole.parts[0]
    return whole


def flattened(node: Node) -> list[Node]:
    """The parts of an implied `allOf`; anything else is its own only part."""
    if isinstance(node, Combined) and node.implied and node.criterion is Criterion.ALL:
        return node.parts
    return [node]


def same_kind(left: Node, right: Node) -> bool:
    return type(left) is type(right)


def _join(left: Node, right: Node) -> Node:
    if type(left) is type(right) and isinstance(left, MERGED):
        _merge(left, right)
        return left
    for types, other in ((left, right), (right, left)):
        if not isinstance(types, Combined) or not types.implied or types.criterion is not Criterion.ANY:
            continue
        if any(same_kind(part, other) for part in types.parts):
            return Combined(Criterion.ANY, _gathered([*types.parts, other]), implied=True)
    return Combined(Criterion.ALL, _gathered([*flattened(left), *flattened(right)]), implied=True)


def _gathered(parts: list[Node]) -> list[Node]:
    found: list[Node] = []
    for part in parts:
        host = next((one for one in found if type(one) is type(part) and isinstance(one, MERGED)), None)
        if host is None:
            found.append(part)
        else:
            _merge(host, part)
    return found


def _merge(into: Node, part: Node) -> None:
    """Adds the keywords of `part` to `into`."""
    for name in type(into).__slots__:
        value = getattr(part, name)
        if isinstance(value, (dict, set)):
            getattr(into, name).update(value)
        elif isinstance(value, list):
            getattr(into, name).extend(value)
        elif value is not None and value is not False:
            setattr(into, name, value)
