"""An encrypted socket that never blocks: OpenSSL works between two buffers in memory, the kernel's socket lies outside.

OpenSSL on a socket takes two system calls for each record of 16 KiB that it receives and one for each that it sends.
Between buffers of memory, one call moves many records. It also gives each of its bytes away at once: a write that the
socket did not take has no second try, only a rest that has to leave before anything else does.
"""

import contextlib
import socket
import ssl
from typing import Any, Final

from ottla.base.buffer import Buffer

RECEIVED_BYTES_MAX: Final = 131_072
"""Received in one call, and what OpenSSL's buffer holds at most of bytes that were not asked for yet."""
_RECORD_BYTES: Final = 16_640
"""The largest record: to decrypt anything of it, all of it is needed."""


class TlsSocket(socket.socket):
    """Takes an accepted socket over. What can't be done now is a `BlockingIOError`."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, place: memoryview) -> None:
        """Received bytes lie in `place` for a moment: all sockets of a loop share it."""
        super().__init__(sock.family, sock.type, sock.proto, sock.detach())
        self.setblocking(False)
        self._place: Final = place
        self._received: Final = ssl.MemoryBIO()
        self._sealed: Final = ssl.MemoryBIO()
        self._tls: Final = context.wrap_bio(self._received, self._sealed, server_side=True)
        self._rest = b""
        """What the handshake still has to send."""
        self._is_midway = False
        """Whether the last record that was sent is not whole."""
        self.has_more = False
        """Whether bytes may have come of which the kernel does not know any more."""

    @property
    def owed_bytes(self) -> int:
        """What OpenSSL itself wants to say, a new key or an alert. `seal` takes it along."""
        return self._sealed.pending

    @property
    def certificate(self) -> bytes | None:
        """What the client has shown, in DER."""
        return self._tls.getpeercert(binary_form=True)

    def do_handshake(self) -> None:
        """Goes on with the handshake. Raises `SSLWantReadError` or `SSLWantWriteError` until it is over."""
        is_over = False
        while not is_over:
            try:
                self._tls.do_handshake()
                is_over = True
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError:
                with contextlib.suppress(OSError):
                    self._flush()
                raise
            if not self._flush():
                raise ssl.SSLWantWriteError
            if not is_over:
                self._receive_handshake()
        # Requests may have come with the last bytes of the handshake.
        self.has_more = True

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Receives what can be decrypted; 0 once the client will send no more."""
        view, done = memoryview(buffer), 0
        self.has_more = True
        while done < len(view):
            try:
                count = int(self._tls.read(len(view) - done, view[done:]))
            except ssl.SSLWantReadError:
                if done:
                    self.has_more = False
                    break
                if self._receive(len(view)):
                    continue
                # OpenSSL is not told of an end without a goodbye: it would not encrypt what is still to be answered.
                break
            except ssl.SSLZeroReturnError:
                break
            if not count:
                break
            done += count
        return done

    def seal(self, data: Buffer) -> bytes:
        """Encrypts `data`. The bytes are to be sent as they are, in this order, by `push`."""
        if len(data):
            self._tls.write(data)
        return self._sealed.read()

    def push(self, sealed: Buffer) -> int:
        """Sends what the kernel takes of sealed bytes."""
        sent = self.send(sealed)
        self._is_midway = sent < len(sealed)
        return sent

    def say_goodbye(self) -> None:
        """Tells the client that nothing more comes, if there is room for that."""
        with contextlib.suppress(OSError, ValueError):
            self._tls.unwrap()
        if not self._is_midway:
            with contextlib.suppress(OSError):
                self._flush()

    def _receive(self, wanted: int) -> bool:
        """Takes what has come; False if the client will send no more. Raises `BlockingIOError` if nothing has."""
        try:
            count = super().recv_into(self._place, min(RECEIVED_BYTES_MAX, wanted + _RECORD_BYTES))
        except BlockingIOError:
            self.has_more = False
            raise
        self._received.write(self._place[:count])
        return count > 0

    def _receive_handshake(self) -> None:
        """Not into the place that all share: handshakes have threads of their own."""
        try:
            data = self.recv(_RECORD_BYTES)
        except BlockingIOError:
            raise ssl.SSLWantReadError from None
        if data:
            self._received.write(data)
        else:
            self._received.write_eof()

    def _flush(self) -> bool:
        """Sends what OpenSSL itself says; whether all of it has left."""
        self._rest += self._sealed.read()
        with contextlib.suppress(BlockingIOError):
            while self._rest:
                self._rest = self._rest[self.push(self._rest) :]
        return not self._rest
