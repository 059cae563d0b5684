"""OAUTHBEARER (RFC 7628) from both sides: a token from elsewhere identifies the client."""

import json
import re
from collections.abc import Callable, Generator, Mapping
from typing import Final, TypeAlias

from ottla.base.errors import OttlaError
from ottla.net.errors import LoginFailedError
from ottla.net.sasl.server import Accepted, Identity, SaslRefusedError, ServerExchange, invalid_credentials

MECHANISM: Final = "OAUTHBEARER"
_END: Final = "\x01"
_NAME: Final = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]++|=2C|=3D)++"
_VALUE: Final = r"[\x21-\x7E \t\r\n]+"
_FIRST: Final = re.compile(rf"n,(?:a=({_NAME}))?,{_END}((?:[A-Za-z]+={_VALUE}{_END})*){_END}", re.ASCII)
_BEARER: Final = re.compile(r"bearer +([-_.~+/A-Za-z0-9]+=*)", re.IGNORECASE | re.ASCII)


class TokenRefusedError(OttlaError):
    """A token that does not say who the client is; the reason is for our log alone."""

    def __init__(self, reason: str, status: str = "invalid_token", scope: str | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.scope = scope


ReadToken: TypeAlias = Callable[[str], Identity]
"""Says whom a token names; raises `TokenRefusedError`."""


def oauthbearer_exchange(token: str, extensions: Mapping[str, str]) -> Generator[bytes, bytes, None]:
    r"""The client's message; raises `LoginFailedError` with the broker's reason.

    >>> next(oauthbearer_exchange("abc", {"traceId": "7"}))
    b'n,,\x01auth=Bearer abc\x01traceId=7\x01\x01'
    """
    fields = "".join(f"{name}={value}{_END}" for name, value in extensions.items())
    challenge = yield f"n,,{_END}auth=Bearer {token}{_END}{fields}{_END}".encode()
    if challenge:
        raise LoginFailedError(f"the broker refused the token: {_reason(challenge)}")


def oauthbearer_server(read_token: ReadToken) -> ServerExchange:
    """The server's side: a bad token gets a reason in JSON, and the refusal once the client has read it."""
    message = yield b""
    authorization_id, token = _opened(message)
    try:
        identity = read_token(token)
    except TokenRefusedError as error:
        said: dict[str, str] = {"status": error.status} | ({} if error.scope is None else {"scope": error.scope})
        refusal = json.dumps(said, separators=(",", ":"))
        if (yield refusal.encode()) != _END.encode():
            raise invalid_credentials(MECHANISM) from None
        raise SaslRefusedError(refusal) from None
    name = identity.principal.partition(":")[2]
    if authorization_id is not None and authorization_id != name:
        raise SaslRefusedError(
            f"Authentication failed: Client requested an authorization id ({authorization_id}) that is different from "
            f"the token's principal name ({name})"
        )
    return Accepted(identity)


def _opened(message: bytes) -> tuple[str | None, str]:
    """The authorization id and the token of a client's message."""
    try:
        found = _FIRST.fullmatch(message.decode())
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise invalid_credentials(MECHANISM)
    pairs = (pair.partition("=") for pair in found[2].split(_END) if pair)
    bearer = _BEARER.fullmatch({name: value for name, _, value in pairs}.get("auth", ""))
    if bearer is None:
        raise invalid_credentials(MECHANISM)
    authorization_id = None if found[1] is None else found[1].replace("=2C", ",").replace("=3D", "=")
    return authorization_id, bearer[1]


def _reason(challenge: bytes) -> str:
    """The broker's JSON in words: `invalid_token`, and the scope that it would accept."""
    try:
        said = json.loads(challenge)
    except ValueError:
        return challenge.decode("utf-8", "replace")
    if not isinstance(said, dict):
        return str(said)
    scope = f" (scope {said['scope']})" if said.get("scope") else ""
    return f"{said.get('status', said)}{scope}"
