"""Buffers for large frames, reused once they have no views any more.

Buffers are anonymous memory maps: a claimed size takes address space only, and pages are committed as bytes arrive;
one that is not kept goes back to the system at once. Nobody gives a buffer back: whoever still holds a view of it is
seen by its reference count, so a view that lives on never changes under its holder.
"""

import mmap
import sys
from typing import Final

KEPT_BYTES_MAX: Final = 16 * 1_048_576
"""Buffers kept for the next large frames; beyond it they are given back to the system when done."""
_SMALLEST: Final = 65_536
_LARGEST_KEPT: Final = 4 * 1_048_576
_UNHELD_REFERENCES: Final = 3
"""References to an unused kept buffer: the list, the loop's variable, and the call that counts."""


class BufferPool:
    """Lends buffers of at least the size that is asked for.

    >>> pool = BufferPool()
    >>> view = memoryview(pool.borrow(100_000))
    >>> view.nbytes, view.readonly
    (131072, False)
    """

    __slots__ = ("_kept", "kept_bytes")

    def __init__(self) -> None:
        self._kept: Final[dict[int, list[mmap.mmap]]] = {}
        self.kept_bytes = 0
        """How much memory is kept, in use or not."""

    def borrow(self, size: int) -> mmap.mmap:
        """A buffer of `size` bytes or more with arbitrary content. It is free again when no view of it is left."""
        capacity = max(_SMALLEST, 1 << (size - 1).bit_length())
        if capacity > _LARGEST_KEPT:
            return mmap.mmap(-1, size)
        kept = self._kept.setdefault(capacity, [])
        for buffer in kept:
            if sys.getrefcount(buffer) == _UNHELD_REFERENCES:
                return buffer
        buffer = mmap.mmap(-1, capacity)
        if self.kept_bytes + capacity <= KEPT_BYTES_MAX:
            self.kept_bytes += capacity
            kept.append(buffer)
        return buffer
