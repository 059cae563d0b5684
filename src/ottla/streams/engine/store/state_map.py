"""The port that all stores stand on: an ordered map of bytes, and the one that lives in memory.

Another host brings its own (a file, LMDB); everything above it is the same. Order is that of the bytes.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Protocol


class StateMap(Protocol):
    """An ordered map of bytes. `scan` sees a copy of the range, so that its caller may write meanwhile."""

    def get(self, key: bytes) -> bytes | None:
        """The value, or None."""
        ...

    def put(self, key: bytes, value: bytes) -> None:
        """Sets the value."""
        ...

    def delete(self, key: bytes) -> None:
        """Removes the key, if it is there."""
        ...

    def scan(self, low: bytes, high: bytes | None) -> Iterator[tuple[bytes, bytes]]:
        """The pairs with low ≤ key < high in order; None is the end."""
        ...


class MemoryMap:
    """A dictionary, and its keys in order as soon as a scan asks for them."""

    def __init__(self) -> None:
        self._values: dict[bytes, bytes] = {}
        self._sorted: list[bytes] = []
        self._added: set[bytes] = set()
        self._removed: set[bytes] = set()
        self.get = self._values.get

    def put(self, key: bytes, value: bytes) -> None:
        """Sets the value."""
        if key not in self._values:
            if key in self._removed:
                self._removed.discard(key)
            else:
                self._added.add(key)
        self._values[key] = value

    def delete(self, key: bytes) -> None:
        """Removes the key, if it is there."""
        if self._values.pop(key, None) is not None:
            if key in self._added:
                self._added.discard(key)
            else:
                self._removed.add(key)

    def scan(self, low: bytes, high: bytes | None) -> Iterator[tuple[bytes, bytes]]:
        """The pairs with low ≤ key < high in order; None is the end."""
        if self._added or self._removed:
            self._settle()
        first = bisect_left(self._sorted, low)
        last = len(self._sorted) if high is None else bisect_left(self._sorted, high)
        values = self._values
        return iter([(key, values[key]) for key in self._sorted[first:last]])

    def page(self, low: bytes, high: bytes | None, count: int) -> tuple[list[tuple[bytes, bytes]], bytes | None]:
        """Up to `count` pairs from `low` on, and where to go on (None: that is all); others may write meanwhile."""
        if self._added or self._removed:
            self._settle()
        first = bisect_left(self._sorted, low)
        last = len(self._sorted) if high is None else bisect_left(self._sorted, high)
        values = self._values
        pairs = [(key, values[key]) for key in self._sorted[first : min(last, first + count)]]
        return pairs, self._sorted[first + count] if first + count < last else None

    def __len__(self) -> int:
        return len(self._values)

    def _settle(self) -> None:
        """Few changes are put in their places; many are sorted in, which is linear for what is in order already."""
        if len(self._added) + len(self._removed) > 8 + len(self._sorted) // 64:
            self._sorted = sorted(self._values)
        else:
            for key in self._removed:
                del self._sorted[bisect_left(self._sorted, key)]
            for key in self._added:
                insort(self._sorted, key)
        self._added.clear()
        self._removed.clear()


def increment(prefix: bytes) -> bytes | None:
    """The first key behind all that begin with the prefix; None where there is none.

    >>> increment(b"ab")
    b'ac'
    """
    for position in range(len(prefix) - 1, -1, -1):
        if prefix[position] != 0xFF:
            return prefix[:position] + bytes([prefix[position] + 1])
    return None
