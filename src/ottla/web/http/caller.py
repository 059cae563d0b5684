"""The credentials of a request, for services that log in to the cluster with them instead of checking them."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from ottla.web.http.request import Request

_NOT_PASSED_ON: Final = (
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "sasl.client.callback.handler.class",
    "sasl.login.callback.handler.class",
    "sasl.oauthbearer.token.endpoint.url",
)
"""Settings of a client that say who it is."""


class Credentials:
    """A user with a password, or a token without a user. Never empty, and never shown."""

    __slots__ = ("secret", "user")

    def __init__(self, user: str | None, secret: str) -> None:
        self.user: Final = user
        self.secret: Final = secret

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Credentials) and (self.user, self.secret) == (other.user, other.secret)

    def __hash__(self) -> int:
        return hash((self.user, self.secret))

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def name(self) -> str:
        """For the log: the cluster has not been asked yet whether it is true."""
        return "bearer of a token" if self.user is None else self.user

    def client_settings(self, settings: Mapping[str, object]) -> dict[str, object]:
        """A client's settings with this log-in in place of its own."""
        kept = {name: value for name, value in settings.items() if name not in _NOT_PASSED_ON}

        async def password() -> tuple[str, str]:
            return self.user or "", self.secret

        async def token() -> str:
            return self.secret

        if self.user is None:
            return {**kept, "sasl.login.callback.handler.class": token}
        return {**kept, "sasl.client.callback.handler.class": password}


class PassedLogin:
    """Takes what a request shows for what it says: the cluster decides, when the request is answered."""

    def __init__(self, challenge: str, scheme: str) -> None:
        self.challenge = challenge
        self._scheme: Final = scheme

    def principal(self, request: Request) -> str | None:
        """The sender's name; None if it shows nothing of the wanted kind."""
        found = self.credentials(request)
        return None if found is None else found.name

    def credentials(self, request: Request) -> Credentials | None:
        """The sender's credentials."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != self._scheme:
            return None
        if self._scheme == "bearer":
            return Credentials(None, given.strip()) if given.strip() else None
        try:
            decoded = base64.b64decode(given.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        user, _, password = decoded.partition(":")
        return Credentials(user, password) if user and password else None
