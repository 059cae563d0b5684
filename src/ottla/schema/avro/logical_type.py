"""Which logical types are valid for which type. An invalid one is no error: it is an attribute like any other."""

import math
from typing import Final

from ottla.schema.avro.model import Fixed, Node

_KINDS: Final = {
    "big-decimal": "bytes",
    "date": "int",
    "time-millis": "int",
    "time-micros": "long",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "timestamp-nanos": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "local-timestamp-nanos": "long",
}
_UUID_SIZE: Final = 16
_DURATION_SIZE: Final = 12


def logical_type(node: Node) -> str | None:
    """The name of the node's logical type, if it has one that is valid for it."""
    name = node.props.get("logicalType")
    if not isinstance(name, str):
        return None
    if name == "decimal":
        valid = _is_decimal(node)
    elif name == "uuid":
        valid = node.kind == "string" or (isinstance(node, Fixed) and node.size == _UUID_SIZE)
    elif name == "duration":
        valid = isinstance(node, Fixed) and node.size == _DURATION_SIZE
    else:
        valid = _KINDS.get(name) == node.kind
    return name if valid else None


def _is_decimal(node: Node) -> bool:
    precision, scale = node.props.get("precision"), node.props.get("scale", 0)
    if node.kind not in ("bytes", "fixed") or not (_is_int(precision) and _is_int(scale)):
        return False
    assert isinstance(precision, int)
    assert isinstance(scale, int)
    fits = not isinstance(node, Fixed) or precision <= digits_max(node.size)
    return precision > 0 and fits and 0 <= scale <= precision


def digits_max(size: int) -> int:
    """The decimal digits that so many bytes hold with any value: two bytes hold 4."""
    return math.floor(math.log10(2) * (8 * size - 1))


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 31) <= value < 1 << 31
