"""The orders that Java's collections have, where something depends on them.

Which of two members keeps a partition too many is decided in Kafka's sticky assignors by the iteration order of a
`HashMap`, and the order of topics in a range assignment likewise. A leader of ours that follows the same order gives
the very assignment that a Java leader would, so that a change of leader moves nothing. Some answers of Kafka's brokers
come in such an order as well, and clients have come to expect it.

A table's size doubles whenever it is more than three quarters full and it never shrinks; entries of one bucket stay in
the order of their insertion.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

K = TypeVar("K")
_FIRST_TABLE_SIZE = 16


def string_hash(text: str) -> int:
    """`String.hashCode`, as an unsigned number of 32 bits."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def sort_key(text: str) -> bytes:
    """Sorts as `String.compareTo` does: by UTF-16 units, so that "\\ufffd" stands behind "\\U0001f600"."""
    return text.encode("utf-16-be", "surrogatepass")


def grown_table_size(entries: int, table_size: int = _FIRST_TABLE_SIZE) -> int:
    """The size of a table of `table_size` buckets once it held that many entries."""
    while entries > table_size * 3 // 4:
        table_size *= 2
    return table_size


def bucket(value: int, table_size: int) -> int:
    """Where a key of this hash is put."""
    return (value ^ value >> 16) & (table_size - 1)


def hash_order(keys: Iterable[K], hash_of: Callable[[K], int], table_size: int = _FIRST_TABLE_SIZE) -> list[K]:
    """The keys in the order in which a `HashMap` walks them that was filled in the order given."""
    distinct = list(dict.fromkeys(keys))
    size = grown_table_size(len(distinct), table_size)
    return sorted(distinct, key=lambda key: bucket(hash_of(key), size))
