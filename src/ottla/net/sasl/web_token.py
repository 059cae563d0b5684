"""Tokens in three parts (RFC 7519, RFC 7515), taken apart: what they say is not proved yet."""

import base64
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ottla.net.sasl.oauthbearer import TokenRefusedError

_PARTS: Final = 3
_ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


class WebToken(NamedTuple):
    """The parts of a token: header, claims, the signed bytes and the signature."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


def read_web_token(token: str) -> WebToken:
    """Takes a token apart. Raises `TokenRefusedError`."""
    parts = token.split(".")
    if len(parts) != _PARTS:
        raise TokenRefusedError(f"a token of {len(parts)} parts, where there are {_PARTS}")
    header, claims, signature = parts
    return WebToken(_object(header), _object(claims), f"{header}.{claims}".encode(), _bytes(signature))


def time_ms(claims: Mapping[str, Any], name: str) -> int | None:
    """A claim that is a time, in milliseconds since 1970; None if it is not there. Raises `TokenRefusedError`."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e15:
        raise TokenRefusedError(f"the claim {name} is no time")
    # Never up: a token of this very moment would come from the future.
    return math.floor(value * 1000)


def name_of(claims: Mapping[str, Any], claim: str) -> str:
    """The user's name in a claim. Raises `TokenRefusedError`, also for half a surrogate pair, which JSON can hold."""
    name = claims.get(claim)
    if not isinstance(name, str) or not name.strip() or not _is_text(name):
        raise TokenRefusedError(f"the token has no claim {claim} with a name")
    return name


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def decode_base64url(text: str) -> bytes:
    """Base64 of URLs without padding, and nothing that a lenient reader would skip. Raises `ValueError`.

    >>> decode_base64url("_-8")
    b'\\xff\\xef'
    """
    if not _ALPHABET.fullmatch(text):
        raise ValueError("a character that base64 of URLs does not have")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _bytes(part: str) -> bytes:
    try:
        return decode_base64url(part)
    except ValueError as error:
        raise TokenRefusedError("a part of the token is no base64") from error


def _object(part: str) -> dict[str, Any]:
    try:
        found = json.loads(_bytes(part))
    except (ValueError, RecursionError) as error:
        raise TokenRefusedError("a part of the token is no JSON in base64") from error
    if not isinstance(found, dict):
        raise TokenRefusedError("a part of the token is no JSON object")
    return found
