"""A request that is larger than what one `recv` brings, received straight into a buffer of its own."""

from collections.abc import Callable
from typing import Final

from ottla.net.buffer_pool import BufferPool

_TURN_BYTES: Final = 2_097_152
"""The most bytes received in one turn, so that one fast writer does not hold up the others."""


class LargeFrame:
    """A frame on its way in: `size` bytes, of which `received` have come."""

    __slots__ = ("received", "size", "view")

    def __init__(self, pool: BufferPool, size: int, start: memoryview) -> None:
        self.size: Final = size
        self.view: Final = memoryview(pool.borrow(size))[:size]
        self.received = start.nbytes
        self.view[: self.received] = start

    def receive(self, recv_into: Callable[[memoryview], int]) -> int:
        """Takes what the socket has: how much; 0 when the client will send no more. Raises `OSError`."""
        received = self.received
        stop = min(self.size, received + _TURN_BYTES)
        while received < stop:
            try:
                count = recv_into(self.view[received:stop])
            except BlockingIOError:
                if received == self.received:
                    raise
                break
            if not count:
                break
            received += count
        count = received - self.received
        self.received = received
        return count

    @property
    def is_complete(self) -> bool:
        """Whether all of it has come."""
        return self.received == self.size
