"""Cuts a stream of bytes into frames, each of which owns its bytes.

For receivers that keep what they get, as clients do: a small frame is copied out of the reader's buffer, a large one is
received straight into memory of its own, which lives as long as somebody looks into it.
"""

import mmap
from struct import Struct
from typing import Final

from ottla.net.errors import InvalidFrameError

_size_at = Struct(">i").unpack_from

_BUFFER_BYTES: Final = 65_536
_LARGE_FROM: Final = 16_384
"""Frames of this size that did not come whole are received into memory of their own."""
_MAPPED_FROM: Final = 262_144
"""From this size on that memory is mapped: it is committed as bytes arrive, and given back to the system at once."""


class FrameReader:
    """Fill `buffer()`, then say how much came with `received()`.

    >>> reader = FrameReader(1_000_000)
    >>> reader.buffer()[:7] = bytes.fromhex("00000002 6869 00")
    >>> [bytes(frame) for frame in reader.received(7)]
    [b'hi']
    """

    __slots__ = ("_end", "_frame_bytes_max", "_large", "_large_end", "_view")

    def __init__(self, frame_bytes_max: int) -> None:
        self._frame_bytes_max: Final = frame_bytes_max
        self._view: Final = memoryview(bytearray(_BUFFER_BYTES))
        self._end = 0
        self._large: memoryview | None = None
        self._large_end = 0

    def buffer(self) -> memoryview:
        """Where the next bytes go; never empty."""
        return self._view[self._end :] if self._large is None else self._large[self._large_end :]

    def received(self, count: int) -> list[memoryview]:
        """`count` bytes were put into the buffer: the frames that are whole now, without their sizes, writable.

        Raises `InvalidFrameError` for a size that no frame can have.
        """
        if self._large is None:
            return self._cut(self._end + count)
        self._large_end += count
        if self._large_end < self._large.nbytes:
            return []
        frame, self._large = self._large, None
        return [frame]

    def _cut(self, end: int) -> list[memoryview]:
        frames, position, view = [], 0, self._view
        while end - position >= 4:
            (size,) = _size_at(view, position)
            if not 0 < size <= self._frame_bytes_max:
                raise InvalidFrameError(size, self._frame_bytes_max)
            stop = position + 4 + size
            if stop > end:
                if size >= _LARGE_FROM:
                    self._begin_large(size, view[position + 4 : end])
                    position = end
                break
            frames.append(memoryview(bytearray(view[position + 4 : stop])))
            position = stop
        self._end = end - position
        if position and self._end:
            view[: self._end] = view[position:end]
        return frames

    def _begin_large(self, size: int, start: memoryview) -> None:
        self._large = memoryview(mmap.mmap(-1, size) if size >= _MAPPED_FROM else bytearray(size))
        self._large[: start.nbytes] = start
        self._large_end = start.nbytes
