"""HTTP/1.1 to one of several addresses, with connections that stay open: all that a registry client needs.

The standard library's client: a registry is asked once for each schema, so dependencies matter more here than speed.
A connection that the server closed in the meantime is replaced at once; an address that fails gives way to the next;
after all failed there is a pause. Safe for threads.
"""

import http.client
import json
import random
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from ottla.base.config import ConfigError
from ottla.base.version import VERSION
from ottla.client.config.settings import ClientSettings
from ottla.client.registry.call import Call
from ottla.client.registry.errors import RegistryError, RegistryUnavailableError
from ottla.client.registry.retry import RETRIABLE_STATUS, RetryPolicy

_ACCEPT: Final = (
    "application/vnd.schemaregistry.v1+json,application/vnd.schemaregistry+json;q=0.9,application/json;q=0.5"
)
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_ANSWER_BYTES_MAX: Final = 64 << 20
_IDLE_MAX: Final = 4


class HttpClient:
    """Sends calls and returns decoded answers."""

    def __init__(self, settings: ClientSettings, context: ssl.SSLContext | None) -> None:
        urls = settings.list("schema.registry.url") or settings.list("url")
        self._endpoints: Final = [_Endpoint(_checked(url), settings, context) for url in urls]
        if not self._endpoints:
            raise ConfigError("schema.registry.url", None, "an address is needed, like http://localhost:8081")
        self._policy: Final = RetryPolicy(
            settings.integer("max.retries"),
            settings.integer("retries.wait.ms"),
            settings.integer("retries.max.wait.ms"),
        )
        self._first = 0

    def ask(self, call: Call) -> object:
        """The decoded JSON of the answer. Raises `RegistryError`, or `RegistryUnavailableError` after all attempts."""
        body = None if call.body is None else json.dumps(call.body).encode()
        attempt = 0
        while True:
            outcomes = self._round(call, body)
            status, raw = outcomes[-1]
            if status is not None and status not in RETRIABLE_STATUS:
                return _decoded(status, raw)
            if attempt >= self._policy.retries_max:
                raise _given_up(call, outcomes, self._endpoints)
            time.sleep(self._policy.pause_s(attempt, random.random()))
            attempt += 1

    def close(self) -> None:
        """Closes the connections that are open and idle."""
        for endpoint in self._endpoints:
            endpoint.close()

    def _round(self, call: Call, body: bytes | None) -> "list[tuple[int | None, bytes]]":
        """Tries each address, the one that worked last first, until one answers what need not be repeated."""
        outcomes: list[tuple[int | None, bytes]] = []
        count = len(self._endpoints)
        for step in range(count):
            place = (self._first + step) % count
            try:
                status, raw = self._endpoints[place].ask(call, body)
            except (OSError, http.client.HTTPException) as error:
                outcomes.append((None, str(error).encode()))
                continue
            outcomes.append((status, raw))
            if status not in RETRIABLE_STATUS:
                self._first = place
                break
        return outcomes


class _Endpoint:
    """One address with its idle connections."""

    def __init__(self, url: SplitResult, settings: ClientSettings, context: ssl.SSLContext | None) -> None:
        self.name: Final = f"{url.scheme}://{url.hostname}:{url.port or _port(url)}"
        self._url: Final = url
        self._context: Final = context
        self._timeout_s: Final = settings.integer("request.timeout.ms") / 1000
        self._headers: Final = {
            "Accept": _ACCEPT,
            "User-Agent": f"ottla/{VERSION}",
            "Confluent-Accept-Unknown-Properties": "true",
            **_authorization(url, settings),
        }
        self._idle: Final[list[http.client.HTTPConnection]] = []
        self._lock: Final = threading.Lock()

    def ask(self, call: Call, body: bytes | None) -> tuple[int, bytes]:
        """Status and body. A connection that was idle may be dead: then a new one is tried."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return self._exchange(connection, call, body)
            except (OSError, http.client.HTTPException):
                connection.close()
        return self._exchange(self._connect(), call, body)

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle[:] = self._idle[:], []
        for connection in idle:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port or _port(self._url)
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=self._timeout_s)

    def _exchange(self, connection: http.client.HTTPConnection, call: Call, body: bytes | None) -> tuple[int, bytes]:
        headers = self._headers if body is None else {**self._headers, "Content-Type": _CONTENT_TYPE}
        try:
            connection.request(call.method, self._url.path.rstrip("/") + call.target, body, headers)
            response = connection.getresponse()
            raw = response.read(_ANSWER_BYTES_MAX)
        except BaseException:
            connection.close()
            raise
        if response.will_close or not response.isclosed():
            connection.close()
        else:
            self._keep(connection)
        return response.status, raw

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()


def _checked(url: str) -> SplitResult:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ConfigError(
            "schema.registry.url",
            parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(),
            "Expected an address like http://localhost:8081",
        )
    return parts


def _port(url: SplitResult) -> int:
    return 443 if url.scheme == "https" else 80


def _authorization(url: SplitResult, settings: ClientSettings) -> dict[str, str]:
    token = settings.secret("bearer.auth.token")
    given = settings.secret("basic.auth.user.info")
    if token is not None:
        return {"Authorization": f"Bearer {token}"}
    if given is None and url.username is not None:
        given = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {} if given is None else {"Authorization": f"Basic {b64encode(given.encode()).decode()}"}


def _decoded(status: int, raw: bytes) -> object:
    try:
        answer = json.loads(raw) if raw else None
    except ValueError:
        answer = None
        if status < 400:
            raise RegistryUnavailableError(f"the registry answers what is no JSON: {raw[:80]!r}") from None
    if status < 400:
        return answer
    raise _refusal(status, answer, raw)


def _refusal(status: int, answer: object, raw: bytes) -> RegistryError:
    fields = answer if isinstance(answer, dict) else {}
    code = fields.get("error_code")
    message = fields.get("message") or raw[:200].decode("utf-8", "replace") or http.client.responses.get(status, "")
    return RegistryError(status, code if isinstance(code, int) else status, str(message))


def _given_up(
    call: Call, outcomes: Sequence[tuple[int | None, bytes]], endpoints: Sequence[_Endpoint]
) -> RegistryError | RegistryUnavailableError:
    """The registry's own words if it said any, else what happened at each address."""
    status, raw = outcomes[-1]
    if status is not None:
        try:
            return _refusal(status, json.loads(raw), raw)
        except ValueError:
            return _refusal(status, None, raw)
    names = ", ".join(endpoint.name for endpoint in endpoints)
    reason = raw.decode("utf-8", "replace")
    return RegistryUnavailableError(f"{call.method} {call.target}: no answer from {names}: {reason}")
