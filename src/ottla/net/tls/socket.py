"""An encrypted socket that never blocks, like a plain one: what can't be done now is a `BlockingIOError`."""

import ssl
from typing import Any


class TlsSocket(ssl.SSLSocket):
    """Made by contexts that have it as `sslsocket_class`."""

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Receives what was decrypted."""
        try:
            return super().recv_into(buffer, nbytes, flags)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    def send(self, data: Any, flags: int = 0) -> int:
        """Sends all of `data` or nothing yet: then the same bytes must be given again."""
        try:
            return super().send(data, flags)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    def say_goodbye(self) -> None:
        """Tells the other side that nothing more comes, if there is room for that."""
        try:
            self.unwrap()
        except (OSError, ValueError):
            return
