"""The sender of a request: anonymous, a user with a password, a bearer of a token, or a certificate's subject.

A refusal does not say which part was wrong, and comparing takes the same time wherever the difference is.
"""

import base64
import binascii
import hmac
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from ottla.base.config import ConfigError
from ottla.base.config.file import PropertiesError, parse_properties
from ottla.client.config.settings import ClientSettings
from ottla.web.http.asgi import Scope
from ottla.web.http.errors import HttpError
from ottla.web.http.request import ANONYMOUS, Request

_FOREIGN: Final = ("OBF:", "MD5:", "CRYPT:")


_EVERYBODY: Final = frozenset({"*", "**"})


class Login(Protocol):
    """Finds out who sends a request."""

    challenge: str
    """The `WWW-Authenticate` header for unknown clients; empty where headers are not used for log-in."""

    def principal(self, request: Request) -> str | None:
        """The sender's name, None if the request must be refused. Raises `HttpError` for one who may not come in."""


class NoLogin:
    """Accepts every client; a client certificate gives the name."""

    challenge = ""

    def principal(self, request: Request) -> str | None:
        """The certificate's subject, or anonymous."""
        return certificate_name(request.scope) or ANONYMOUS


class BasicLogin:
    """User and password in each request (RFC 7617)."""

    def __init__(self, realm: str, passwords: Mapping[str, str]) -> None:
        self.challenge = f'Basic realm="{realm}", charset="UTF-8"'
        self._passwords: Final = {user: password.encode() for user, password in passwords.items()}

    def principal(self, request: Request) -> str | None:
        """The user whose password is right."""
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            decoded = base64.b64decode(encoded.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        user, _, password = decoded.partition(":")
        expected = self._passwords.get(user, b"")
        is_right = hmac.compare_digest(expected, password.encode())
        return user if is_right and user in self._passwords else None


class BearerLogin:
    """A token in each request (RFC 6750)."""

    def __init__(self, realm: str, tokens: Mapping[str, str]) -> None:
        self.challenge = f'Bearer realm="{realm}"'
        self._tokens: Final = {user: token.encode() for user, token in tokens.items()}

    def principal(self, request: Request) -> str | None:
        """The user whom the token belongs to."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip().encode()
        if scheme.lower() != "bearer" or not given:
            return None
        found = None
        for user, expected in self._tokens.items():
            if hmac.compare_digest(expected, given):
                found = user
        return found


class RoleLogin:
    """A log-in of which only some users are let in."""

    def __init__(self, login: Login, allowed: frozenset[str]) -> None:
        self.challenge = login.challenge
        self._login: Final = login
        self._allowed: Final = allowed

    def principal(self, request: Request) -> str | None:
        """The user, if it is one of those."""
        found = self._login.principal(request)
        if found is not None and found not in self._allowed:
            raise HttpError(403, "Forbidden")
        return found


def login_of(settings: ClientSettings) -> Login:
    """The log-in that the settings ask for. Raises `ConfigError`."""
    method, realm = settings.string("authentication.method").upper(), settings.string("authentication.realm")
    if method == "BASIC":
        return _login(settings, "authentication.users.file", lambda secrets: BasicLogin(realm, secrets))
    if method == "BEARER":
        return _login(settings, "authentication.tokens.file", lambda secrets: BearerLogin(realm, secrets))
    return NoLogin()


def _login(settings: ClientSettings, name: str, make: Callable[[Mapping[str, str]], Login]) -> Login:
    """Whom a file names; where the settings name roles, those who have one of them."""
    found, wanted = _secrets(settings, name), frozenset(settings.list("authentication.roles"))
    if wanted & _EVERYBODY:
        return make(found)
    lines = {user: [part.strip() for part in line.split(",")] for user, line in found.items()}
    if empty := [user for user, (secret, *_) in lines.items() if not secret]:
        raise ConfigError(name, settings.string(name), f"the secret of {empty[0]} is empty")
    allowed = frozenset(user for user, (_, *roles) in lines.items() if wanted.intersection(roles))
    return RoleLogin(make({user: parts[0] for user, parts in lines.items()}), allowed)


def certificate_name(scope: Scope) -> str | None:
    """The subject of the certificate that the client showed on this connection."""
    extension = (scope.get("extensions") or {}).get("tls") or {}
    name: str | None = extension.get("client_cert_name")
    return name


def _secrets(settings: ClientSettings, name: str) -> Mapping[str, str]:
    path = settings.string(name)
    if not path:
        raise ConfigError(name, None, f"authentication.method={settings.string('authentication.method')} needs it")
    try:
        found = parse_properties(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, PropertiesError) as error:
        raise ConfigError(name, path, f"the file can't be read: {error}") from None
    for user, secret in found.items():
        if not secret or secret.startswith(_FOREIGN):
            raise ConfigError(name, path, f"the secret of {user} must be plain text: Jetty's forms are not supported")
    return found
