"""One connection that speaks Kafka's frames, with our own codec: what tests use where no client would go.

Nothing is retried and nothing is hidden: a connection that the server closes is an answer too.
"""

import socket
import struct
from typing import Self

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.frame import decode_response, encode_request

CLIENT_ID = "ottla-test"


class Wire:
    """A socket on loopback that sends and receives whole frames."""

    def __init__(self, address: tuple[str, int], *, timeout: float = 30, source: str = "") -> None:
        """`source` is the address to come from; whatever the system takes if it is empty."""
        self.socket = socket.create_connection(address, timeout=timeout, source_address=(source, 0) if source else None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._last_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: Request, version: int) -> Response:
        """Sends a request and waits for its answer; `ConnectionError` if the server closes instead."""
        self.send(request, version)
        return self.take(request.api, version)

    def send(self, request: Request, version: int) -> None:
        """Sends a request; answers come in order with `take`."""
        self._last_id += 1
        self.socket.sendall(encode_request(request, version, correlation_id=self._last_id, client_id=CLIENT_ID))

    def take(self, api: ApiKey, version: int) -> Response:
        """The next answer, which must be one to `api`."""
        frame = self.receive()
        if frame is None:
            raise ConnectionError(f"the server closed the connection instead of answering {api.name} v{version}")
        return decode_response(frame, api, version)[1]

    def receive(self) -> bytes | None:
        """The next frame without its size, or None if the server closed the connection."""
        size = self._read(4)
        return None if size is None else self._read(struct.unpack(">i", size)[0])

    def _read(self, wanted: int) -> bytes | None:
        parts, left = [], wanted
        while left:
            try:
                part = self.socket.recv(left)
            except ConnectionResetError:
                return None
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
