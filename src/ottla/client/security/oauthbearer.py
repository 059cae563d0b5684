"""OAUTHBEARER (RFC 7628): a token that somebody else gave us says who we are. `token_source` gets it."""

import json
from collections.abc import Generator, Mapping
from typing import Final

from ottla.client.errors import AuthenticationFailedError

_END: Final = "\x01"


def oauthbearer_exchange(token: str, extensions: Mapping[str, str]) -> Generator[bytes, bytes, None]:
    r"""The client's message; raises `AuthenticationFailedError` with the broker's reason.

    >>> next(oauthbearer_exchange("abc", {"traceId": "7"}))
    b'n,,\x01auth=Bearer abc\x01traceId=7\x01\x01'
    """
    fields = "".join(f"{name}={value}{_END}" for name, value in extensions.items())
    challenge = yield f"n,,{_END}auth=Bearer {token}{_END}{fields}{_END}".encode()
    if challenge:
        raise AuthenticationFailedError(f"the broker refused the token: {_reason(challenge)}")


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
