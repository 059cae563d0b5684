"""A request as handlers see it: path parameters, query, headers, who sent it, and the body on demand.

Invariants: no more than `body_bytes_max` of a body is ever held; a body that takes too long ends in 408.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import parse_qsl

from ottla.base.frozen import frozen
from ottla.web.http.asgi import Receive, Scope
from ottla.web.http.content import media_type
from ottla.web.http.errors import ClientGoneError, HttpError

ANONYMOUS: Final = "anonymous"
_DRAIN_S: Final = 2.0
_DRAIN_BYTES: Final = 128 << 20
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")


@frozen
class BodyLimits:
    """The maximal size of a body, and the time in which it has to arrive."""

    bytes_max: int
    timeout_s: float


class Request:
    """One request. Path parameters are decoded; names of headers are in lower case."""

    __slots__ = (
        "_body",
        "_limits",
        "_query",
        "_receive",
        "content_type",
        "headers",
        "method",
        "parameters",
        "path",
        "principal",
        "query_string",
        "remote",
        "scope",
    )

    def __init__(self, scope: Scope, receive: Receive, limits: BodyLimits) -> None:
        self.scope: Final = scope
        self.method: Final[str] = scope["method"]
        self.path: Final[str] = scope["raw_path"].decode("latin-1")
        self.query_string: Final[bytes] = scope["query_string"]
        self.headers: Final[dict[str, str]] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.remote: Final[str] = scope["client"][0] if scope.get("client") else "-"
        self.parameters: dict[str, str] = {}
        self.principal = ANONYMOUS
        self.content_type = ""
        """The type that the answer will have."""
        self._receive: Final = receive
        self._limits: Final = limits
        self._query: dict[str, str] | None = None
        self._body: bytes | None = None

    @property
    def query(self) -> dict[str, str]:
        """The parameters behind the `?`; the first of several with one name counts."""
        if self._query is None:
            self._query = {}
            try:
                text = self.query_string.decode("ascii")
                pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
            except ValueError:
                raise HttpError(400, "The query string is not percent-encoded UTF-8") from None
            for name, value in pairs:
                self._query.setdefault(name, value)
        return self._query

    def values(self, name: str) -> list[str]:
        """All values of a parameter behind the `?`, in their order."""
        self.query  # noqa: B018 - refuses what is not UTF-8
        pairs = parse_qsl(self.query_string.decode("ascii"), keep_blank_values=True, errors="strict")
        return [value for each, value in pairs if each == name]

    def flag(self, name: str) -> bool:
        """A boolean of the query: `true` in any case, as Java reads it; everything else is false."""
        return self.query.get(name, "").strip().lower() == "true"

    def integer(self, name: str, default: int) -> int:
        """An integer of the query. What is none is answered with 404, as JAX-RS does for a bad query parameter."""
        text = self.query.get(name, "")
        if not text:
            return default
        value = int(text) if _INTEGER.fullmatch(text) else None
        if value is None or not -(1 << 31) <= value < 1 << 31:
            raise HttpError(404, f"The query parameter {name} must be an integer")
        return value

    @property
    def media_type(self) -> str:
        """The type of the body, without its parameters; empty if the sender names none."""
        return media_type(self.headers.get("content-type", ""))

    @property
    def base_url(self) -> str:
        """The address by which the sender reached us: `http://host:port`."""
        return f"{self.scope['scheme']}://{self.headers.get('host') or self._server}"

    async def chunks(self, idle_timeout_s: float) -> AsyncIterator[bytes]:
        """The body piece by piece, for handlers that answer while it arrives; `HttpError` 408 if nothing comes."""
        more = True
        while more:
            try:
                async with asyncio.timeout(idle_timeout_s):
                    message = await self._receive()
            except TimeoutError:
                raise HttpError(408, f"Nothing came for {idle_timeout_s:g} s") from None
            if message["type"] == "http.disconnect":
                raise ClientGoneError("the client closed the connection")
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]

    async def body(self) -> bytes:
        """The whole body. Raises `HttpError` 413 or 408, or `ClientGoneError`."""
        if self._body is None:
            declared = self.headers.get("content-length", "")
            body = None
            if not declared.isdecimal() or int(declared) <= self._limits.bytes_max:
                try:
                    async with asyncio.timeout(self._limits.timeout_s):
                        body = await self._read()
                except TimeoutError:
                    raise HttpError(408, f"The body took longer than {self._limits.timeout_s:g} s") from None
            if body is None:
                await self._drain()
                raise HttpError(413, f"The body is larger than {self._limits.bytes_max} bytes")
            self._body = body
        return self._body

    async def json(self) -> Any:
        """The body as JSON. Raises `HttpError` 400 for what is none."""
        body = await self.body()
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise HttpError(400, f"The body is not JSON: {reason}") from None

    @property
    def _server(self) -> str:
        host, port = self.scope.get("server") or ("localhost", 80)
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def _read(self) -> bytes | None:
        """The body, None if it is too large."""
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError("the client closed the connection")
            piece = message.get("body", b"")
            size += len(piece)
            if size > self._limits.bytes_max:
                return None
            pieces.append(piece)
            if not message.get("more_body", False):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def _drain(self) -> None:
        """Lets a client finish what it sends, within limits: one that is cut off while it sends never reads why."""
        size = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                while size < _DRAIN_BYTES:
                    message = await self._receive()
                    size += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return
