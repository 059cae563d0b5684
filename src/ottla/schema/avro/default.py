"""Defaults of fields: whether a value fits a type, and what Java makes of the value when it normalises."""

from collections.abc import Callable, Iterator
from typing import Final

from ottla.schema.avro.model import MISSING, Array, Map, Missing, Node, Record, Union, children
from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_text import Json, nearest_single, write_json

_INT_BITS: Final = {"int": 31, "long": 63}
_TEXTUAL: Final = frozenset({"string", "bytes", "enum", "fixed"})


def check_defaults(root: Node, print_type: Callable[[Node], str]) -> None:
    """Raises InvalidSchemaError for the first default that does not fit its field.

    Records are checked inside out. A default that needs the fields of a record which contains it is refused, as Java
    does: it could contain itself without end.
    """
    complete: set[int] = set()
    for record in _inside_out(root):
        for index, field in enumerate(record.fields):
            if not isinstance(field.default, Missing) and not _fits(field.type, field.default, complete):
                given, wanted = write_json(field.default), print_type(field.type)
                raise InvalidSchemaError(
                    f"Invalid default for field {field.name}: {given} not a {wanted}",
                    f"{record.path}/fields/{index}/default",
                )
        complete.add(id(record))


def _inside_out(root: Node) -> Iterator[Record]:
    """Every record once, those inside of it before it."""
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if isinstance(node, Record):
            if done:
                yield node
                continue
            if id(node) in seen:
                continue
            seen.add(id(node))
            stack.append((node, True))
        stack.extend((child, False) for child in reversed(children(node)))


def _fits(node: Node, value: Json, complete: set[int]) -> bool:
    kind = node.kind
    if kind in _TEXTUAL:
        return isinstance(value, str)
    if kind in _INT_BITS:
        return is_integer(value, _INT_BITS[kind])
    if kind in ("float", "double"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "null":
        return value is None
    if isinstance(node, Union):
        pairs, enough = [(branch, value) for branch in node.branches], True
    else:
        found = _parts(node, value, complete)
        if found is None:
            return False
        pairs, enough = found, False
    # A loop, not `any` or `all`: one frame for each level of nesting.
    for part, item in pairs:
        if _fits(part, item, complete) is enough:
            return enough
    return not enough


def _parts(node: Node, value: Json, complete: set[int]) -> list[tuple[Node, Json]] | None:
    """The parts of a default with their types, all of which must fit; None if the default itself does not."""
    if isinstance(node, Array) and isinstance(value, list):
        return [(node.items, item) for item in value]
    if isinstance(node, Map) and isinstance(value, dict):
        return [(node.values, item) for item in value.values()]
    if not (isinstance(node, Record) and isinstance(value, dict)):
        return None
    if id(node) not in complete:
        raise InvalidSchemaError("Schema fields not set yet", f"{node.path}/fields")
    # A field that is not given has its own default, which was found to fit before.
    if any(field.name not in value and isinstance(field.default, Missing) for field in node.fields):
        return None
    return [(field.type, value[field.name]) for field in node.fields if field.name in value]


def is_integer(value: Json, bits: int) -> bool:
    """Whether a JSON value is an integer of `bits` bits and a sign."""
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << bits) <= value < 1 << bits


def java_value(value: Json, node: Node | None) -> Json | Missing:
    """The object that Java makes of a default; MISSING where it makes none.

    Only the first branch of a union reads its default, even if it fits only another: normalising drops it then.
    """
    while isinstance(node, Union):
        if not node.branches:
            raise InvalidSchemaError("a default for a union without branches")
        node = node.branches[0]
    if value is None or isinstance(value, bool):
        return value
    kind = node.kind if node is not None else None
    if isinstance(value, (int, float)):
        return _java_number(value, kind)
    if isinstance(value, str):
        if kind is None or kind in ("string", "enum"):
            return value
        return value.encode("latin-1", "replace").decode("latin-1") if kind in ("bytes", "fixed") else MISSING
    if isinstance(value, list):
        if node is not None and not isinstance(node, Array):
            raise InvalidSchemaError(f"Not an array: {kind}")
        return _java_list(value, node.items if node is not None else None)
    assert isinstance(value, dict)
    return _java_map(value, node)


def _java_number(value: float, kind: str | None) -> Json | Missing:
    if isinstance(value, int):
        if not is_integer(value, 63):
            return MISSING
        if kind is None or kind == "long" or kind == "int":
            return value
        if kind == "double":
            return float(value)
    elif kind is None or kind == "double":
        return value
    return nearest_single(float(value)) if kind == "float" else MISSING


def _java_list(value: list[Json], items: Node | None) -> Json:
    found: list[Json] = []
    for item in value:
        found.append(_inner(java_value(item, items)))
    return found


def _java_map(value: dict[str, Json], node: Node | None) -> Json:
    found: dict[str, Json] = {}
    for key, item in value.items():
        part: Node | None = None
        if isinstance(node, Map):
            part = node.values
        elif isinstance(node, Record):
            if key not in node.field_by_name:
                raise InvalidSchemaError(f"the default has a field {key} that {node.label} has not")
            part = node.field_by_name[key].type
        found[key] = _inner(java_value(item, part))
    return found


def _inner(value: Json | Missing) -> Json:
    if isinstance(value, Missing):
        raise InvalidSchemaError("a part of a default does not fit its type, and can't be normalised")
    return value
