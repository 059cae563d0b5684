"""PLAIN (RFC 4616) from both sides: user and password, as they are. Only TLS keeps them secret."""

import hmac
from collections.abc import Callable, Generator
from typing import Final, TypeAlias

from ottla.net.sasl.server import OTHER_AUTHORIZATION_ID, Accepted, Identity, SaslRefusedError, ServerExchange, user

CheckPassword: TypeAlias = Callable[[str, str], bool]
FindPassword: TypeAlias = Callable[[str], str | None]
"""The password of a user; None if there is no such user."""

_PARTS: Final = 3
_PARTS_MAX: Final = 4
"""More are not counted, as in Kafka."""
_NOBODYS: Final = "\0"
"""Compared for unknown users, so that they take as long; no password has it."""


def plain_exchange(username: str, password: str) -> Generator[bytes, bytes, None]:
    r"""The client's only message.

    >>> next(plain_exchange("alice", "secret"))
    b'\x00alice\x00secret'
    """
    yield b"\0" + username.encode() + b"\0" + password.encode()


def plain_server(find_password: FindPassword, check: CheckPassword | None = None) -> ServerExchange:
    """The server's side: checks the only message, by `check` where another service compares passwords."""
    message = yield b""
    parts = message.decode("utf-8", "replace").split("\0", _PARTS_MAX)[:_PARTS_MAX]
    if len(parts) != _PARTS:
        raise SaslRefusedError(f"Invalid SASL/PLAIN response: expected {_PARTS} tokens, got {len(parts)}")
    authorization_id, username, password = parts
    if not username:
        raise SaslRefusedError("Authentication failed: username not specified")
    if not password:
        raise SaslRefusedError("Authentication failed: password not specified")
    if not (check(username, password) if check is not None else _is_right(find_password(username), password)):
        raise SaslRefusedError("Authentication failed: Invalid username or password")
    if authorization_id and authorization_id != username:
        raise SaslRefusedError(OTHER_AUTHORIZATION_ID)
    return Accepted(Identity(user(username)))


def _is_right(known: str | None, password: str) -> bool:
    is_equal = hmac.compare_digest((_NOBODYS if known is None else known).encode(), password.encode())
    return known is not None and is_equal
