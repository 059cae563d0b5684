"""Avro's JSON encoding to its binary one: what people type and what REST clients send, as bytes that readers know.

The rules are the specification's, as Avro's own JSON decoder applies them: a value of a union is null or an object
with one member, named like the branch; bytes are text of the characters 0 to 255; every field is there, and no other.
A writer is a tree of functions, built once for a schema.
"""

import math
import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ottla.schema.avro.model import Array, Enum, Fixed, Map, Node, Record, Union
from ottla.schema.error import InvalidValueError

Write: TypeAlias = Callable[[bytearray, Any], None]

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_SHOWN_MAX: Final = 80


class JsonWriter:
    """Writes values of one schema.

    >>> from ottla.schema.avro.parse import parse
    >>> schema = parse('["null", "string"]', (), {}, strict=True)
    >>> JsonWriter(schema.root).write({"string": "a"})
    b'\\x02\\x02a'
    """

    def __init__(self, root: Node) -> None:
        self._writers: Final[dict[int, Write]] = {}
        self._root: Final = self._writer(root)

    def write(self, value: Any) -> bytes:
        """The binary encoding. Raises `InvalidValueError` for a value that does not fit."""
        out = bytearray()
        try:
            self._root(out, value)
        except RecursionError:
            raise InvalidValueError("the value is nested too deeply") from None
        return bytes(out)

    def _writer(self, node: Node) -> Write:
        found = self._writers.get(id(node))
        if found is not None:
            return found
        if isinstance(node, Record):
            return self._record(node)
        made = self._compound(node) or _PRIMITIVES[node.kind]
        self._writers[id(node)] = made
        return made

    def _compound(self, node: Node) -> Write | None:
        if isinstance(node, Union):
            return _union(node, [self._writer(branch) for branch in node.branches])
        if isinstance(node, Array):
            return _array(self._writer(node.items))
        if isinstance(node, Map):
            return _map(self._writer(node.values))
        if isinstance(node, Enum):
            return _enum(node)
        return _fixed(node) if isinstance(node, Fixed) else None

    def _record(self, node: Record) -> Write:
        fields: list[tuple[str, Write]] = []
        name = node.label

        def write(out: bytearray, value: Any) -> None:
            if not isinstance(value, dict):
                raise _unfit(value, name)
            for field, write_field in fields:
                try:
                    part = value[field]
                except KeyError:
                    raise InvalidValueError(f"Expected field name not found: {field}") from None
                try:
                    write_field(out, part)
                except InvalidValueError as error:
                    raise InvalidValueError(f"{field}: {error}") from None
            if len(value) > len(fields):
                known = {field for field, _ in fields}
                raise InvalidValueError(f"Unknown fields: {[each for each in value if each not in known]}")

        # A record may contain itself: it is known before its fields are.
        self._writers[id(node)] = write
        fields += [(field.name, self._writer(field.type)) for field in node.fields]
        return write


def _union(node: Union, writers: list[Write]) -> Write:
    labels = [branch.label for branch in node.branches]
    by_label = {label: (index, writers[index]) for index, label in enumerate(labels)}
    null = labels.index("null") if "null" in labels else None

    def write(out: bytearray, value: Any) -> None:
        if value is None and null is not None:
            _write_long(out, null)
            return
        if not isinstance(value, dict) or len(value) != 1:
            expected = " or ".join("null" if label == "null" else f'{{"{label}": …}}' for label in labels)
            raise InvalidValueError(f"Expected {expected}, got {_shown(value)}")
        ((label, inner),) = value.items()
        if label not in by_label or label == "null":
            raise InvalidValueError(f"Unknown union branch {label}")
        index, write_branch = by_label[label]
        _write_long(out, index)
        write_branch(out, inner)

    return write


def _array(write_item: Write) -> Write:
    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, list):
            raise _unfit(value, "array")
        if value:
            _write_long(out, len(value))
            for item in value:
                write_item(out, item)
        out.append(0)

    return write


def _map(write_value: Write) -> Write:
    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, dict):
            raise _unfit(value, "map")
        if value:
            _write_long(out, len(value))
            for key, item in value.items():
                _write_string(out, key)
                write_value(out, item)
        out.append(0)

    return write


def _enum(node: Enum) -> Write:
    indexes = {symbol: index for index, symbol in enumerate(node.symbols)}

    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, str):
            raise _unfit(value, "enum")
        if value not in indexes:
            raise InvalidValueError(f"Unknown symbol in enum {value}")
        _write_long(out, indexes[value])

    return write


def _fixed(node: Fixed) -> Write:
    def write(out: bytearray, value: Any) -> None:
        data = _latin(value, "fixed")
        if len(data) != node.size:
            raise InvalidValueError(f"Expected fixed length {node.size}, but got {len(data)}")
        out += data

    return write


def _write_null(_: bytearray, value: Any) -> None:
    if value is not None:
        raise _unfit(value, "null")


def _write_boolean(out: bytearray, value: Any) -> None:
    if not isinstance(value, bool):
        raise _unfit(value, "boolean")
    out.append(value)


def _write_int(out: bytearray, value: Any) -> None:
    _write_long(out, _integer(value, "int", 31))


def _write_int64(out: bytearray, value: Any) -> None:
    _write_long(out, _integer(value, "long", 63))


def _write_float(out: bytearray, value: Any) -> None:
    try:
        out += _FLOAT.pack(_number(value, "float"))
    except OverflowError:
        raise _unfit(value, "float") from None


def _write_double(out: bytearray, value: Any) -> None:
    out += _DOUBLE.pack(_number(value, "double"))


def _write_bytes(out: bytearray, value: Any) -> None:
    data = _latin(value, "bytes")
    _write_long(out, len(data))
    out += data


def _write_string(out: bytearray, value: Any) -> None:
    if not isinstance(value, str):
        raise _unfit(value, "string")
    data = value.encode("utf-8", "replace")
    _write_long(out, len(data))
    out += data


_PRIMITIVES: Final[dict[str, Write]] = {
    "null": _write_null,
    "boolean": _write_boolean,
    "int": _write_int,
    "long": _write_int64,
    "float": _write_float,
    "double": _write_double,
    "bytes": _write_bytes,
    "string": _write_string,
}


def _write_long(out: bytearray, number: int) -> None:
    value = (number << 1) ^ (number >> 63)
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _integer(value: Any, kind: str, bits: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << bits) <= value < 1 << bits:
        raise _unfit(value, kind)
    return value


def _number(value: Any, kind: str) -> float:
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _unfit(value, kind)
    try:
        return float(value)
    except OverflowError:
        raise _unfit(value, kind) from None


def _latin(value: Any, kind: str) -> bytes:
    if not isinstance(value, str):
        raise _unfit(value, kind)
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        raise InvalidValueError(f"{kind} are written as characters from U+0000 to U+00FF") from None


def _unfit(value: Any, kind: str) -> InvalidValueError:
    return InvalidValueError(f"Expected {kind}, got {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
