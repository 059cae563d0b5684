"""The common part of the server's half of every mechanism: the identity, and the two kinds of failure.

A mechanism is a generator: it is sent the client's messages, yields the server's, and returns `Accepted`.
"""

from collections.abc import Callable, Generator, Mapping
from typing import TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen


@frozen
class Identity:
    """The identity of a client that logged in."""

    principal: str
    """As ACLs name them: `User:alice`."""
    is_token: bool = False
    """Whether a delegation token proved it (KIP-48)."""
    expires_at_ms: int | None = None
    """When the proof ends by itself, in milliseconds since 1970: that of a token."""


@frozen
class Accepted:
    """The end of an exchange that succeeded, with the server's last message."""

    identity: Identity
    message: bytes = b""


class SaslRefusedError(OttlaError):
    """The client is not who it says: SASL_AUTHENTICATION_FAILED with this text."""


class SaslBrokenError(OttlaError):
    """The client breaks the rules of the mechanism: its connection ends without an answer."""


ServerExchange: TypeAlias = Generator[bytes, bytes, Accepted]
"""Started with `next`; raises `SaslRefusedError` and `SaslBrokenError`."""
Mechanisms: TypeAlias = Mapping[str, Callable[[], ServerExchange]]
"""What begins an exchange, by the name of the mechanism."""

OTHER_AUTHORIZATION_ID = "Authentication failed: Client requested an authorization id that is different from username"


def invalid_credentials(mechanism: str) -> SaslRefusedError:
    """The refusal that does not tell the client more."""
    return SaslRefusedError(
        f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
    )


def user(name: str) -> str:
    """The principal of a user.

    >>> user("alice")
    'User:alice'
    """
    return f"User:{name}"
