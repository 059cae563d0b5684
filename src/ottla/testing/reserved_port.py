"""A port on loopback that stays a broker's own, while it runs and while it is down.

A socket that is bound but does not listen keeps the system from giving the port to anybody who asks for any port: a
client that dials a broker which is being restarted could otherwise get that very port, and talk to itself. Listening
there is still possible, since both sockets say SO_REUSEADDR.
"""

import socket
from typing import Final

LOOPBACK: Final = "127.0.0.1"


class ReservedPort:
    """A port; `release` it in the end."""

    def __init__(self) -> None:
        self._holder: Final = socket.socket()
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._holder.bind((LOOPBACK, 0))
        self.number: Final[int] = self._holder.getsockname()[1]

    def release(self) -> None:
        """Gives it back; a second call does nothing."""
        self._holder.close()
