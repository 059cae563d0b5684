"""The answers of an encrypted connection that wait to be written.

Pieces are cut to a size, encrypted just before they leave, and kept in that form until they have left. Small ones are
joined: each is a record of its own on the wire. File regions are read here, since the kernel can't send what must be
encrypted before.
"""

import os
import socket
from typing import Final, Self

from ottla.base.buffer import Buffer
from ottla.net.errors import RegionEndedError
from ottla.net.outbox import BUFFERS, Outbox
from ottla.net.tls.socket import TlsSocket

_CHUNK_BYTES: Final = 131_072
_TURN_BYTES: Final = 1_048_576
"""What is encrypted in one turn at most, so that one fast reader does not hold up the others."""


class TlsOutbox(Outbox):
    """Pieces in the order in which they leave; the first may be encrypted already."""

    __slots__ = ("_has_begun",)

    def __init__(self) -> None:
        super().__init__()
        self._has_begun = False

    def clear(self) -> None:
        """Drops everything."""
        super().clear()
        self._has_begun = False

    @property
    def unread_bytes(self) -> int:
        """The bytes that have not been written yet, without the part of a region that was read."""
        return sum(map(len, self.pieces)) - self._region_sent

    def take(self) -> Self:
        """All of it in an outbox of its own, for another thread; it comes back with `put_back`."""
        taken = type(self)()
        taken.pieces[:] = self.pieces
        taken._region_sent, taken._has_begun = self._region_sent, self._has_begun
        self.clear()
        return taken

    def put_back(self, taken: Self) -> None:
        """Puts the rest of another thread back in front."""
        self.pieces[0:0] = taken.pieces
        self._region_sent, self._has_begun = taken._region_sent, taken._has_begun

    def write(self, sock: socket.socket) -> int:
        """Writes as much as the socket takes and a turn allows; how much that was. All is gone if `pieces` is empty.

        Raises `OSError` if the connection is gone and `RegionEndedError` if a file is.
        """
        assert isinstance(sock, TlsSocket)
        pieces, written = self.pieces, 0
        while pieces and written < _TURN_BYTES:
            if not self._has_begun:
                pieces[0:0] = (sock.seal(self._next_chunk()),)
                self._has_begun = True
            sealed = pieces[0]
            assert isinstance(sealed, BUFFERS)
            try:
                sent = sock.push(sealed)
            except BlockingIOError:
                break
            written += sent
            if sent < len(sealed):
                pieces[0] = memoryview(sealed)[sent:]
                break
            del pieces[0]
            self._has_begun = False
        return written

    def _next_chunk(self) -> Buffer:
        """Takes off what is written at once."""
        pieces = self.pieces
        first = pieces[0]
        if not isinstance(first, BUFFERS):
            return self._read_region()
        if len(first) >= _CHUNK_BYTES or len(pieces) == 1:
            view = memoryview(first)
            if len(view) <= _CHUNK_BYTES:
                del pieces[0]
                return first
            pieces[0] = view[_CHUNK_BYTES:]
            return view[:_CHUNK_BYTES]
        joined, count = bytearray(), 0
        for piece in pieces:
            if not isinstance(piece, BUFFERS) or len(joined) + len(piece) > _CHUNK_BYTES:
                break
            joined += piece
            count += 1
        del pieces[:count]
        if pieces and not isinstance(pieces[0], BUFFERS) and len(joined) < _CHUNK_BYTES:
            # A header and the start of its records share a record on the wire.
            joined += self._read_region(_CHUNK_BYTES - len(joined))
        return joined

    def _read_region(self, most: int = _CHUNK_BYTES) -> bytes:
        region = self.pieces[0]
        assert not isinstance(region, BUFFERS)
        left = len(region) - self._region_sent
        data = os.pread(region.fileno(), min(left, most), region.position + self._region_sent) if left else b""
        if left and not data:
            raise RegionEndedError(f"a file region of {len(region)} bytes ends {left} bytes early")
        self._region_sent += len(data)
        if self._region_sent == len(region):
            self._region_sent = 0
            del self.pieces[0]
        return data
