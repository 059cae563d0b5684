"""The answers of one connection that wait to be written.

Buffers leave together in one `sendmsg`, file regions by `sendfile`, without being read; a buffer before a region is
announced with MSG_MORE, so that header and records share packets. What a socket does not take stays, and is counted.
"""

import os
import socket
from typing import Final

from ottla.base.buffer import Buffer
from ottla.net.errors import RegionEndedError
from ottla.net.piece import FileRegion, Piece

_MSG_MORE: Final = socket.MSG_MORE
BUFFERS: Final = (bytes, bytearray, memoryview)
_BATCH_MAX: Final = 64
"""Buffers in one `sendmsg`."""
_TURN_BYTES: Final = 2_097_152
"""The most bytes written in one turn, so that one fast reader does not hold up the others."""


class Outbox:
    """Pieces in the order in which they leave."""

    __slots__ = ("_region_sent", "pieces")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._region_sent = 0
        """Bytes of the first piece that have left, if that is a region; buffers are cut instead."""

    @property
    def unread_bytes(self) -> int:
        """Pieces that have not been written yet."""
        return sum(map(len, self.pieces)) - self._region_sent

    def clear(self) -> None:
        """Drops everything, and lets go of the files."""
        self.pieces.clear()
        self._region_sent = 0

    def write(self, sock: socket.socket) -> int:
        """Writes as much as the socket takes and a turn allows; how much that was. All is gone if `pieces` is empty.

        Raises `OSError` if the connection is gone and `RegionEndedError` if a file is.
        """
        pieces, written = self.pieces, 0
        while pieces and written < _TURN_BYTES:
            try:
                first = pieces[0]
                if isinstance(first, BUFFERS):
                    wanted, sent = self._write_buffers(sock)
                else:
                    wanted, sent = self._write_region(sock, first)
            except BlockingIOError:
                break
            written += sent
            if sent < wanted:
                break
        return written

    def _write_buffers(self, sock: socket.socket) -> tuple[int, int]:
        """Writes the buffers before the next region: how much there was and how much went."""
        batch: list[Buffer] = []
        flags = 0
        for piece in self.pieces[:_BATCH_MAX]:
            if not isinstance(piece, BUFFERS):
                flags = _MSG_MORE
                break
            batch.append(piece)
        wanted = sum(map(len, batch))
        sent = sock.sendmsg(batch, (), flags) if wanted else 0
        if sent == wanted:
            del self.pieces[: len(batch)]
        else:
            self._cut(sent)
        return wanted, sent

    def _cut(self, sent: int) -> None:
        """Removes what was sent of the buffers in front; the first that is left may have lost its start."""
        pieces, done = self.pieces, 0
        while sent >= len(pieces[done]):
            sent -= len(pieces[done])
            done += 1
        first = pieces[done]
        if sent and isinstance(first, BUFFERS):
            pieces[done] = memoryview(first)[sent:]
        del pieces[:done]

    def _write_region(self, sock: socket.socket, region: FileRegion) -> tuple[int, int]:
        wanted = len(region) - self._region_sent
        sent = 0
        if wanted:
            count = min(wanted, _TURN_BYTES)
            sent = os.sendfile(sock.fileno(), region.fileno(), region.position + self._region_sent, count)
            if not sent:
                raise RegionEndedError(f"a file region of {len(region)} bytes ends {wanted} bytes early")
        if sent == wanted:
            self._region_sent = 0
            del self.pieces[0]
        else:
            self._region_sent += sent
        return wanted, sent
