"""The received bytes of a connection that are not handled yet.

Either bytes in a row (`held`: the start of a frame, or whole frames that must wait), or one large frame on its way
into a buffer of its own. What is held, and the whole size of a large frame, counts against `queued.max.request.bytes`;
but not while the connection waits for room itself, or those who wait would starve each other.
"""

from struct import Struct
from typing import Final

from ottla.net.buffer_pool import BufferPool
from ottla.net.large_frame import LargeFrame
from ottla.net.request_memory import RequestMemory

_size_at = Struct(">i").unpack_from

_LARGE_FROM: Final = 32_768
"""Frames of this size that did not come whole get a buffer of their own."""


class Inbox:
    """The rest of what came in. Empty most of the time."""

    __slots__ = ("_buffers", "_claimed", "_memory", "expects_large", "held", "held_at", "large")

    def __init__(self, buffers: BufferPool, memory: RequestMemory) -> None:
        self._buffers: Final = buffers
        self._memory: Final = memory
        self._claimed = 0
        self.held: memoryview | None = None
        self.held_at = 0
        """Where in `held` the first frame that was not handled begins."""
        self.large: LargeFrame | None = None
        self.expects_large = False
        """Whether the last frame was a large one: then the next one probably is, too."""

    @property
    def is_empty(self) -> bool:
        """Whether everything that came was handled."""
        return self.held is None and self.large is None

    def keep(self, view: memoryview, position: int, end: int) -> None:
        """Keeps the bytes from `position` on; copies them unless they are in `held` already."""
        if view is not self.held:
            self.held = memoryview(bytearray(view[position:end]))
            position = 0
        self.held_at = position
        self._claim(self.held.nbytes)

    def begin_large(self, view: memoryview, position: int, end: int) -> bool:
        """Gives the started frame at `position` a buffer of its own, if it is large and there is room."""
        if not self.is_large(view, position, end):
            return False
        self._claim(0)
        if self._memory.is_full:
            return False
        (size,) = _size_at(view, position)
        self.large = LargeFrame(self._buffers, size, view[position + 4 : end])
        self.held = None
        self.expects_large = True
        self._claim(size)
        return True

    @staticmethod
    def is_large(view: memoryview, position: int, end: int) -> bool:
        """Whether the frame that starts at `position` needs a buffer of its own."""
        return end - position >= 4 and bool(_size_at(view, position)[0] >= _LARGE_FROM)

    def clear(self) -> None:
        """Everything is handled."""
        self.held = self.large = None
        self._claim(0)

    def disclaim(self) -> None:
        """Keeps what is here without counting it: the connection waits for room."""
        self._claim(0)

    def _claim(self, count: int) -> None:
        if count > self._claimed:
            self._memory.claim(count - self._claimed)
        elif count < self._claimed:
            self._memory.free(self._claimed - count)
        self._claimed = count
