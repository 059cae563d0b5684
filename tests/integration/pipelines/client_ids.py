"""A door to a server that remembers by which names clients introduce themselves."""

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_BEFORE_ID: Final = struct.Struct(">ihhih")
"""What a request begins with: size, API key, version, correlation id, and the length of the client id."""


class _Door(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, server: tuple[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Guest)
        self.server: Final = server
        self.client_ids: Final[list[str]] = []


class _Guest(socketserver.BaseRequestHandler):
    server: _Door

    def handle(self) -> None:
        with socket.create_connection(self.server.server) as inner, self.request.makefile("rb") as asked:
            threading.Thread(target=_copy, args=(inner, self.request), daemon=True).start()
            while head := asked.read(_BEFORE_ID.size):
                size, *_, id_size = _BEFORE_ID.unpack(head)
                rest = asked.read(4 + size - len(head))
                self.server.client_ids.append(rest[:id_size].decode())
                inner.sendall(head + rest)


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
    except OSError:
        pass


@contextmanager
def client_ids(server: tuple[str, int]) -> Iterator[tuple[str, list[str]]]:
    """Where to connect instead, and the client id of each request that came this way."""
    with _Door(server) as door:
        threading.Thread(target=door.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        host, port = door.server_address[:2]
        yield f"{host!s}:{port}", door.client_ids
        door.shutdown()
