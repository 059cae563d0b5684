"""Ports for servers under test.

They lie below the range that the kernel gives to outgoing connections: a client that keeps dialling a server which is
being restarted could otherwise be given that very port and talk to itself.
"""

import random
import socket

_FIRST, _LAST = 12_000, 32_000
_taken: set[int] = set()


def free_port() -> int:
    """A port on loopback that nobody listens on, and that this process was not given before."""
    dice = random.SystemRandom()
    while True:
        port = dice.randrange(_FIRST, _LAST)
        if port not in _taken and is_free(port):
            _taken.add(port)
            return port


def is_free(port: int) -> bool:
    """Whether nobody listens there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
