"""uvicorn's HTTP protocol with what a public port needs on top: a header in bounded time and size, errors in JSON.

uvicorn limits neither: a client that sends a byte a minute would hold its connection for ever.
"""

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ottla.web.http.answer import json_bytes


class ServerConfig(uvicorn.Config):
    """uvicorn's configuration, and our limits."""

    header_timeout_s: float = 10.0
    header_bytes_max: int = 65_536
    connections_max: int = 2_000


class GuardedProtocol(HttpToolsProtocol):
    """One connection. The clock of a header runs from the connection, or from the first byte of a further request."""

    _header_timer: asyncio.TimerHandle | None = None
    _header_bytes = 0
    _in_header = True
    _certificate: str | None = None
    _is_surplus = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Asyncio calls: a client connected."""
        super().connection_made(transport)
        # uvicorn sends header and body apart: with Nagle's algorithm the body would wait for the header's ACK, 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._certificate = _subject(transport.get_extra_info("peercert"))
        self._is_surplus = len(self.connections) > self._limits.connections_max
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio calls: it is over."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Asyncio calls: bytes of a request."""
        if self._in_header:
            self._header_bytes += len(data)
        super().data_received(data)
        # One read may hold the end of a header and the beginning of its body: only an endless header is large here.
        if self._in_header and self._header_bytes > self._limits.header_bytes_max:
            self._refuse(431, f"The header is larger than {self._limits.header_bytes_max} bytes")

    def on_message_begin(self) -> None:
        """The parser calls: a request begins."""
        super().on_message_begin()
        self._in_header, self._header_bytes = True, max(1, self._header_bytes)
        self._start_clock()

    def on_headers_complete(self) -> None:
        """The parser calls: a request's header is complete."""
        self._in_header, self._header_bytes = False, 0
        self._stop_clock()
        if self._is_surplus:
            self._refuse(503, f"More than {self._limits.connections_max} connections")
            return
        if self._certificate is not None:
            self.scope["extensions"] = {"tls": {"client_cert_name": self._certificate}}
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """uvicorn calls: the bytes are no HTTP."""
        self._refuse(400, msg)

    @property
    def _limits(self) -> ServerConfig:
        assert isinstance(self.config, ServerConfig)
        return self.config

    def _start_clock(self) -> None:
        self._stop_clock()
        self._header_timer = self.loop.call_later(self._limits.header_timeout_s, self._too_slow)

    def _stop_clock(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _too_slow(self) -> None:
        self._header_timer = None
        if self._header_bytes:
            self._refuse(408, f"The header took longer than {self._limits.header_timeout_s:g} s")
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        body = json_bytes({"error_code": status, "message": message})
        header = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + header + body)
        self.transport.close()


def _subject(certificate: dict[str, Any] | None) -> str | None:
    """A certificate's subject as Java prints it, the most particular part first.

    >>> _subject({"subject": ((("countryName", "DE"),), (("commonName", "alice"),))})
    'CN=alice,C=DE'
    """
    if not certificate:
        return None
    parts = [pair for group in certificate.get("subject", ()) for pair in group]
    return ",".join(f"{_SHORT.get(name, name)}={value}" for name, value in reversed(parts)) or None


_SHORT = {
    "commonName": "CN",
    "organizationalUnitName": "OU",
    "organizationName": "O",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "countryName": "C",
}
