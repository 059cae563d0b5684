"""A client that says exactly what it is told to, and shows what it hears as plain text."""

import re
import socket
from typing import TypeVar

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.frame import decode_response, encode_request

CLOSED = "closed"
SILENT = "silent"
R = TypeVar("R", bound=Response)


class Talk:
    """Says requests and hears answers; how the bytes travel is for a subclass to know."""

    def __init__(self) -> None:
        self._correlation_id = 0

    def close(self) -> None:
        """Hangs up; the next request opens another connection."""
        raise AssertionError("a subclass knows")

    def send_raw(self, frame: bytes) -> None:
        """Says the bytes, whatever they are."""
        raise AssertionError("a subclass knows")

    def hear(self) -> bytes | str:
        """The next frame without its size; or that the connection was closed, or that nothing came."""
        raise AssertionError("a subclass knows")

    def ask_raw(self, frame: bytes) -> bytes | str:
        """Says the bytes and hears the answer."""
        self.send_raw(frame)
        return self.hear()

    def ask(self, request: Request, version: int, client_id: str = "probe") -> Response | str:
        """The answer to a request, or what happened instead."""
        self._correlation_id += 1
        heard = self.ask_raw(encode_request(request, version, correlation_id=self._correlation_id, client_id=client_id))
        if isinstance(heard, str):
            return heard
        correlation_id, response = decode_response(heard, request.api, version)
        assert correlation_id == self._correlation_id
        return response

    def expect(self, request: Request, version: int, kind: type[R]) -> R:
        """The answer to a request that has to be answered."""
        response = self.ask(request, version)
        assert isinstance(response, kind), response
        return response

    def is_open(self) -> bool:
        """Whether the connection is still there: ApiVersions is answered."""
        heard = self.ask_raw(bytes.fromhex("0000000a 0012 0000 00000063 ffff"))
        return isinstance(heard, bytes) and heard[:4] == b"\0\0\0\x63"


class Wire(Talk):
    """Over a socket."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__()
        self._address = (host, port)
        self._socket: socket.socket | None = None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send_raw(self, frame: bytes) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=10)
        self._socket.sendall(frame)

    def hear(self) -> bytes | str:
        assert self._socket is not None
        try:
            size = self._exactly(4)
            return self._exactly(int.from_bytes(size, "big"))
        except TimeoutError:
            self.close()
            return SILENT
        except (EOFError, ConnectionError):
            self.close()
            return CLOSED

    def _exactly(self, count: int) -> bytes:
        assert self._socket is not None
        data = b""
        while len(data) < count:
            part = self._socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data


def header(api: ApiKey, version: int, correlation_id: int = 1, client_id: bytes | None = b"c") -> bytes:
    """The first version of a request's header, which may be said of any key and version."""
    name = b"\xff\xff" if client_id is None else len(client_id).to_bytes(2, "big") + client_id
    ids = api.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    return ids + correlation_id.to_bytes(4, "big") + name


def framed(body: bytes) -> bytes:
    """The bytes behind their size."""
    return len(body).to_bytes(4, "big") + body


def shown(heard: object, **names: object) -> str:
    """What was heard, with values that differ from run to run replaced by their names."""
    text = heard.hex(" ", -4) if isinstance(heard, bytes) else repr(heard)
    for name, value in names.items():
        text = text.replace(repr(value) if not isinstance(value, int) else str(value), f"<{name}>")
    return re.sub(r"port=\d+", "port=<port>", text)
