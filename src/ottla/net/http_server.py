"""A tiny HTTP/1.1 responder for metrics and probes: GET and HEAD of a few fixed paths, nothing else.

Keeps connections alive, answers pipelined requests in order, and bounds what a client can cost: the size of a head, the
number of connections, the time one may be silent. Request bodies are not read: a request that has one is refused.
"""

import asyncio
import http
import logging
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from ottla.base.frozen import frozen
from ottla.base.system_clock import SystemClock
from ottla.net.errors import ListenError

_log = logging.getLogger(__name__)

_HEAD_BYTES_MAX: Final = 8_192
_CONNECTIONS_MAX: Final = 100
_SILENCE_S_MAX: Final = 60.0
_TEXT: Final = "text/plain; charset=utf-8"
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@frozen
class HttpAnswer:
    """A status, a body, and what it is."""

    status: int
    body: bytes
    content_type: str = _TEXT


Route: TypeAlias = Callable[[], HttpAnswer]
"""Computes an answer, on the loop's thread."""


class _Head(NamedTuple):
    """The used part of a request."""

    method: str
    path: str
    keeps_alive: bool
    has_body: bool


class HttpServer:
    """Answers GET and HEAD for the paths of `routes`."""

    def __init__(self, host: str, port: int, routes: Mapping[str, Route]) -> None:
        self.routes: Final = dict(routes)
        self.connections: Final[set[_HttpConnection]] = set()
        self._host: Final = host
        self._port: Final = port
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Binds and listens; a host of "" is all interfaces, a port of 0 a free one. `ListenError` if it can't."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _HttpConnection(self), self._host or None, self._port)
        except OSError as error:
            raise ListenError(self._host, self._port, error.strerror or str(error)) from error

    @property
    def address(self) -> tuple[str, int]:
        """The bound address."""
        if self._server is None:
            return self._host, self._port
        name = self._server.sockets[0].getsockname()
        return name[0], name[1]

    async def close(self) -> None:
        """Stops listening and closes all connections."""
        if self._server is not None:
            self._server.close()
            for connection in list(self.connections):
                connection.close()
            await self._server.wait_closed()

    def respond(self, head: _Head) -> HttpAnswer:
        """The answer to one request."""
        if head.has_body:
            return _refusal(http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        route = self.routes.get(head.path)
        if route is None:
            return _refusal(http.HTTPStatus.NOT_FOUND)
        if head.method not in ("GET", "HEAD"):
            return _refusal(http.HTTPStatus.METHOD_NOT_ALLOWED)
        try:
            return route()
        except Exception:  # noqa: BLE001 - a route that fails costs one answer, not the server
            _log.exception("GET %s failed", head.path)
            return _refusal(http.HTTPStatus.INTERNAL_SERVER_ERROR)


class _HttpConnection(asyncio.Protocol):
    """One client: collects heads, writes answers."""

    def __init__(self, server: HttpServer) -> None:
        self._server: Final = server
        self._loop: Final = asyncio.get_running_loop()
        self._received: Final = bytearray()
        self._is_reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._silence = self._loop.call_later(_SILENCE_S_MAX, transport.abort)
        self._server.connections.add(self)
        if len(self._server.connections) > _CONNECTIONS_MAX:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._silence.cancel()
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self._received.extend(data)
        self._answer_all()
        self._silence.cancel()
        self._silence = self._loop.call_later(_SILENCE_S_MAX, self._transport.abort)

    def pause_writing(self) -> None:
        """The client does not read: then nothing more is read from it."""
        self._is_reading = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client reads on; soon, since a transport must not be closed inside of this call."""
        self._is_reading = True
        self._loop.call_soon(self._go_on)

    def close(self) -> None:
        """The server closes."""
        self._transport.abort()

    def _go_on(self) -> None:
        self._answer_all()
        if self._is_reading:
            self._transport.resume_reading()

    def _answer_all(self) -> None:
        received = self._received
        while self._is_reading and not self._transport.is_closing():
            end = received.find(b"\r\n\r\n")
            if end > _HEAD_BYTES_MAX or (end < 0 and len(received) > _HEAD_BYTES_MAX):
                self._refuse(http.HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            elif end < 0:
                if received and not received[:1].isalpha():
                    # No method begins so: a Kafka client, say, which would wait for an answer until it gives up.
                    self._refuse(http.HTTPStatus.BAD_REQUEST)
                return
            else:
                head = _parse(bytes(received[:end]))
                del received[: end + 4]
                if head is None:
                    self._refuse(http.HTTPStatus.BAD_REQUEST)
                else:
                    self._answer(head)

    def _answer(self, head: _Head) -> None:
        answer = self._server.respond(head)
        keeps_alive = head.keeps_alive and not head.has_body
        self._transport.write(_encode(answer, keeps_alive=keeps_alive))
        if head.method != "HEAD":
            self._transport.write(answer.body)
        if not keeps_alive:
            self._transport.close()

    def _refuse(self, status: http.HTTPStatus) -> None:
        answer = _refusal(status)
        self._transport.write(_encode(answer, keeps_alive=False) + answer.body)
        self._transport.close()


def _parse(head: bytes) -> _Head | None:
    """Reads a head, or finds that it is none."""
    request, *fields = head.decode("latin-1").split("\r\n")
    parts = request.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.0", "HTTP/1.1") or not parts[1].startswith("/"):
        return None
    headers = {}
    for line in fields:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            return None
        headers[name.lower()] = value.strip().lower()
    connection = headers.get("connection", "")
    keeps_alive = "keep-alive" in connection if parts[2] == "HTTP/1.0" else "close" not in connection
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return _Head(parts[0], parts[1].partition("?")[0], keeps_alive, has_body)


def _refusal(status: http.HTTPStatus) -> HttpAnswer:
    return HttpAnswer(status, f"{status.phrase}\n".encode())


def _encode(answer: HttpAnswer, *, keeps_alive: bool) -> bytes:
    try:
        phrase = http.HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = ""
    lines = [
        f"HTTP/1.1 {int(answer.status)} {phrase}",
        f"Date: {_date(SystemClock().now_ms())}",
        f"Content-Type: {answer.content_type}",
        f"Content-Length: {len(answer.body)}",
    ]
    if answer.status == http.HTTPStatus.METHOD_NOT_ALLOWED:
        lines.append("Allow: GET, HEAD")
    if not keeps_alive:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _date(now_ms: int) -> str:
    """The date in HTTP's form, in English whatever the locale.

    >>> _date(784_111_777_000)
    'Sun, 06 Nov 1994 08:49:37 GMT'
    """
    year, month, day, hour, minute, second, weekday, *_ = time.gmtime(now_ms // 1000)
    return f"{_DAYS[weekday]}, {day:02} {_MONTHS[month - 1]} {year} {hour:02}:{minute:02}:{second:02} GMT"
