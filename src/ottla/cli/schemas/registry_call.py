"""Asks a schema registry, ours or Confluent's, and says in a sentence what it refuses."""

import argparse
import base64
import http.client
import json
import os
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ottla.cli.output.advice import CommandError
from ottla.cli.output.unanswered import unanswered
from ottla.cli.schemas.option import DEFAULT_URL, URL_VARIABLE

_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S: Final = 30
_INCOMPATIBLE: Final = 40901
_ADVICE: Final = {
    40401: "`ottla schemas list` shows those that exist",
    40402: "`ottla schemas show SUBJECT --versions` lists those that exist",
    40404: "add --permanent to forget it for good",
    40405: "delete it without --permanent first",
    40407: "delete it without --permanent first",
    _INCOMPATIBLE: "`ottla schemas check SUBJECT FILE` explains it",
    42206: "delete the schemas that refer to it first",
    **dict.fromkeys((50001, 50002), "the registry's brokers may be away; `ottla doctor -b` tells"),
    50003: "the primary instance of the registry may be away",
    50004: "no instance of the registry is primary yet, or its brokers are away: its log tells",
}
_ABSENT: Final = (
    "start one with `ottla registry`, or name yours with --url; "
    "one that was started listens as soon as its brokers answer, and `ottla doctor -b` tells whether they do"
)


class RegistryRefusalError(CommandError):
    """What the registry answered instead of what was asked for."""

    def __init__(self, error_code: int, message: str) -> None:
        advice = _ADVICE.get(error_code)
        # The reasons of an incompatibility are long, and `check` tells them better.
        said = message.partition(", details: ")[0] if error_code == _INCOMPATIBLE else message
        said = said.rstrip(".")
        super().__init__(f"{said}; {advice}" if advice else said)
        self.error_code = error_code


class RegistryCall:
    """One registry."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CommandError(f"--url {url}: it must have the form http://HOST:PORT")
        self._url: Final = f"{parts.scheme}://{parts.hostname}:{parts.port or 8081}"
        self._parts: Final = parts
        self._headers: Final = {"Content-Type": _TYPE, "Accept": _TYPE}
        if parts.username is not None:
            secret = f"{parts.username}:{parts.password or ''}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(secret).decode()}"

    @classmethod
    def of(cls, options: argparse.Namespace) -> "RegistryCall":
        """The one that the options name."""
        return cls(options.url or os.environ.get(URL_VARIABLE) or DEFAULT_URL)

    def get(self, *segments: object, **query: object) -> Any:
        """The answer to GET."""
        return self._ask("GET", segments, query, None)

    def post(self, *segments: object, body: object, **query: object) -> Any:
        """The answer to POST."""
        return self._ask("POST", segments, query, body)

    def put(self, *segments: object, body: object) -> Any:
        """The answer to PUT."""
        return self._ask("PUT", segments, {}, body)

    def delete(self, *segments: object, **query: object) -> Any:
        """The answer to DELETE."""
        return self._ask("DELETE", segments, query, None)

    def _ask(self, method: str, segments: tuple[object, ...], query: dict[str, object], body: object) -> Any:
        path = "/".join(quote(str(segment), safe="") for segment in segments)
        wanted = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items() if value is not None)
        target = f"{self._parts.path.rstrip('/')}/{path}" + (f"?{wanted}" if wanted else "")
        made = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = made(self._parts.hostname or "", self._parts.port or 8081, timeout=_TIMEOUT_S)
        try:
            connection.request(method, target, None if body is None else json.dumps(body).encode(), self._headers)
            response = connection.getresponse()
            answer = json.loads(response.read() or b"null")
        except (OSError, http.client.HTTPException) as error:
            reason = unanswered(error, self._parts.port or 8081)
            raise CommandError(f"no schema registry answers at {self._url}: {reason}; {_ABSENT}") from None
        except ValueError:
            raise CommandError(f"{self._url} is no schema registry: it does not answer in JSON") from None
        finally:
            connection.close()
        if response.status >= 300:
            told = answer if isinstance(answer, dict) else {}
            message = str(told.get("message") or f"{self._url} answered with {response.status}")
            raise RegistryRefusalError(int(told.get("error_code", response.status)), message)
        return answer
