"""Avro's binary encoding to its JSON one, the way back of `json_writer`.

Bytes are untrusted: data that ends too early, and blocks that claim more items than there can be, are refused.
"""

import math
import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ottla.schema.avro.model import Array, Enum, Fixed, Map, Node, Record, Union
from ottla.schema.error import InvalidValueError

Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_VARINT_BYTES_MAX: Final = 10
_EMPTY_ITEMS_MAX: Final = 100_000
"""Items without bytes, of type null for example, that one value may have."""


class _EmptyItems:
    """Counts items that take no bytes: a few bytes could claim any number of them."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = _EMPTY_ITEMS_MAX

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise InvalidValueError(f"there are more than {_EMPTY_ITEMS_MAX} items without bytes")


class JsonReader:
    """Reads values of one schema.

    >>> from ottla.schema.avro.parse import parse
    >>> schema = parse('["null", "string"]', (), {}, strict=True)
    >>> JsonReader(schema.root).read(b"\\x02\\x02a")
    {'string': 'a'}
    """

    def __init__(self, root: Node) -> None:
        self._readers: Final[dict[int, Read]] = {}
        self._empty: Final = _EmptyItems()
        self._root: Final = self._reader(root)

    def read(self, data: bytes) -> Any:
        """The value as JSON. Raises `InvalidValueError` for bytes that don't follow the schema."""
        self._empty.left = _EMPTY_ITEMS_MAX
        try:
            return self._root(data, 0)[0]
        except (IndexError, struct.error):
            raise InvalidValueError("the data ends too early") from None
        except UnicodeDecodeError as error:
            raise InvalidValueError(f"a string is not UTF-8: {error.reason}") from None
        except RecursionError:
            raise InvalidValueError("the data is nested too deeply") from None

    def _reader(self, node: Node) -> Read:
        found = self._readers.get(id(node))
        if found is not None:
            return found
        if isinstance(node, Record):
            return self._record(node)
        made = self._compound(node) or _PRIMITIVES[node.kind]
        self._readers[id(node)] = made
        return made

    def _compound(self, node: Node) -> Read | None:
        if isinstance(node, Union):
            return _union(node, [self._reader(branch) for branch in node.branches])
        if isinstance(node, Array):
            return _array(self._reader(node.items), self._empty)
        if isinstance(node, Map):
            return _map(self._reader(node.values))
        if isinstance(node, Enum):
            return _enum(node)
        return _fixed(node) if isinstance(node, Fixed) else None

    def _record(self, node: Record) -> Read:
        fields: list[tuple[str, Read]] = []

        def read(data: bytes, at: int) -> tuple[Any, int]:
            value = {}
            for name, read_field in fields:
                value[name], at = read_field(data, at)
            return value, at

        # A record may contain itself: it is known before its fields are.
        self._readers[id(node)] = read
        fields += [(field.name, self._reader(field.type)) for field in node.fields]
        return read


def _union(node: Union, readers: list[Read]) -> Read:
    labels = [branch.label for branch in node.branches]

    def read(data: bytes, at: int) -> tuple[Any, int]:
        index, at = _long(data, at)
        if not 0 <= index < len(labels):
            raise InvalidValueError(f"the union has no branch {index}")
        value, at = readers[index](data, at)
        return (None if labels[index] == "null" else {labels[index]: value}), at

    return read


def _array(read_item: Read, empty: _EmptyItems) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        items: list[Any] = []
        count, at = _block(data, at)
        while count:
            for _ in range(count):
                item, end = read_item(data, at)
                items.append(item)
                if end == at:
                    empty.spend()
                at = end
            count, at = _block(data, at)
        return items, at

    return read


def _map(read_value: Read) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        values: dict[str, Any] = {}
        count, at = _block(data, at)
        while count:
            for _ in range(count):
                key, at = _string(data, at)
                values[key], at = read_value(data, at)
            count, at = _block(data, at)
        return values, at

    return read


def _block(data: bytes, at: int) -> tuple[int, int]:
    """The number of items in the next block. The size in bytes that follows a negative count is skipped."""
    count, at = _long(data, at)
    if count < 0:
        count = -count
        _, at = _long(data, at)
    return count, at


def _enum(node: Enum) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        index, at = _long(data, at)
        if not 0 <= index < len(node.symbols):
            raise InvalidValueError(f"the enum {node.label} has no symbol {index}")
        return node.symbols[index], at

    return read


def _fixed(node: Fixed) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        return _slice(data, at, node.size).decode("latin-1"), at + node.size

    return read


def _null(_: bytes, at: int) -> tuple[None, int]:
    return None, at


def _boolean(data: bytes, at: int) -> tuple[bool, int]:
    return data[at] == 1, at + 1


def _float(data: bytes, at: int) -> tuple[float | str, int]:
    # Four bytes read as eight would show digits that were never written: 0.1 as 0.10000000149011612.
    value = _FLOAT.unpack_from(data, at)[0]
    return _special(value, shortest_float(value)), at + 4


def _double(data: bytes, at: int) -> tuple[float | str, int]:
    value = _DOUBLE.unpack_from(data, at)[0]
    return _special(value, value), at + 8


def _special(value: float, shown: float) -> float | str:
    if math.isfinite(value):
        return shown
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def shortest_float(value: float) -> float:
    """The shortest decimal that stands for the same four-byte number.

    >>> shortest_float(0.10000000149011612)
    0.1
    """
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        if math.isfinite(short) and abs(short) < 3.5e38 and _packed(short) == _packed(value):
            return short
    return value


def _packed(value: float) -> bytes:
    try:
        return _FLOAT.pack(value)
    except OverflowError:
        return b""


def _bytes(data: bytes, at: int) -> tuple[str, int]:
    size, at = _long(data, at)
    return _slice(data, at, size).decode("latin-1"), at + size


def _string(data: bytes, at: int) -> tuple[str, int]:
    size, at = _long(data, at)
    return _slice(data, at, size).decode(), at + size


def _slice(data: bytes, at: int, size: int) -> bytes:
    if size < 0 or at + size > len(data):
        raise InvalidValueError("the data ends too early")
    return data[at : at + size]


def _long(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _VARINT_BYTES_MAX, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
    raise InvalidValueError("a number has more than 64 bits")


_PRIMITIVES: Final[dict[str, Read]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": _string,
}
