"""Passes a request on to another instance of the same service, and its answer back.

Connections are kept and used by one thread at a time; the standard library's client is blocking, so it runs on worker
threads. A connection that the other side closed meanwhile is replaced once: a request that was never read may be sent
again.
"""

import asyncio
import http.client
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.web.http.answer import Answer
from ottla.web.http.request import Request

FORWARDED: Final = "x-forward"
"""The header that marks a request as passed on: it is not passed on again."""
_PASSED: Final = ("content-type", "accept", "authorization", "confluent-accept-unknown-properties")
_KEPT_MAX: Final = 16


class PeerUnreachableError(OttlaError):
    """The other instance could not be asked."""


@frozen
class PeerOptions:
    """The time limits of requests to other instances, and the check of their certificates."""

    connect_timeout_s: float = 60.0
    read_timeout_s: float = 60.0
    tls: ssl.SSLContext | None = None


class PeerClient:
    """Connections to other instances."""

    def __init__(self, options: PeerOptions) -> None:
        self._options: Final = options
        self._idle: Final[dict[str, list[http.client.HTTPConnection]]] = {}

    async def forward(self, url: str, request: Request) -> Answer:
        """The other instance's answer to this request. Raises `PeerUnreachableError`."""
        body = await request.body()
        target = request.path + (f"?{request.query_string.decode('latin-1')}" if request.query_string else "")
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers} | {FORWARDED: "true"}
        return await asyncio.to_thread(self._ask, url, _Call(request.method, target, body, headers))

    def close(self) -> None:
        """Ends all connections that are idle."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    def _ask(self, url: str, call: "_Call") -> Answer:
        idle = self._idle.setdefault(url, [])
        try:
            kept = idle.pop()
        except IndexError:
            return self._ask_on(url, self._connected(url), call)
        try:
            return self._ask_on(url, kept, call)
        except PeerUnreachableError as error:
            if not isinstance(error.__cause__, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)):
                raise
            return self._ask_on(url, self._connected(url), call)

    def _connected(self, url: str) -> http.client.HTTPConnection:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        made: http.client.HTTPConnection
        if parts.scheme == "https":
            context = self._options.tls or ssl.create_default_context()
            made = http.client.HTTPSConnection(host, port, timeout=self._options.connect_timeout_s, context=context)
        else:
            made = http.client.HTTPConnection(host, port, timeout=self._options.connect_timeout_s)
        try:
            made.connect()
        except OSError as error:
            raise PeerUnreachableError(f"{url} can't be reached: {error}") from error
        made.sock.settimeout(self._options.read_timeout_s)
        return made

    def _ask_on(self, url: str, connection: http.client.HTTPConnection, call: "_Call") -> Answer:
        try:
            connection.request(call.method, call.target, call.body or None, dict(call.headers))
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise PeerUnreachableError(f"{url} did not answer: {error or type(error).__name__}") from error
        idle = self._idle.setdefault(url, [])
        if response.will_close or len(idle) >= _KEPT_MAX:
            connection.close()
        else:
            idle.append(connection)
        passed = {name.lower(): value for name, value in response.getheaders() if name.lower().startswith("x-ottla-")}
        return Answer(response.status, body, response.getheader("content-type"), passed)


@frozen
class _Call:
    method: str
    target: str
    body: bytes
    headers: Mapping[str, str]
