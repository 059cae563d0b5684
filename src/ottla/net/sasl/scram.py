"""SCRAM (RFC 5802) from the client's side: the password never travels, and the broker proves that it knows it, too.

Sans I/O: a generator that yields what the client says and is sent what the broker answers.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Generator, Mapping
from dataclasses import field
from typing import Final

from ottla.base.frozen import frozen
from ottla.net.errors import LoginFailedError

HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS_MIN: Final = 4096
"""Fewer would make the password easy to guess for whoever listens: Kafka's clients refuse them, too."""
_ITERATIONS_MAX: Final = 1_000_000
"""Kafka stores 16,384 at most. An impostor who asks for 2,000,000,000 would stop the client for an hour."""
_DIGITS_MAX: Final = 10
MECHANISMS: Final = tuple(HASHES)


@frozen
class ScramLogin:
    """The credentials of a client. `is_token`: user and password are a delegation token's id and HMAC (KIP-48)."""

    mechanism: str
    username: str
    password: str = field(repr=False)
    is_token: bool = False


def scram_exchange(login: ScramLogin, nonce: str | None = None) -> Generator[bytes, bytes, None]:
    """The client's messages; raises `LoginFailedError` when the broker fails to prove itself.

    `nonce` is drawn by chance unless a test gives one.
    """
    nonce = nonce or secrets.token_urlsafe(24)
    extension = ",tokenauth=true" if login.is_token else ""
    first = f"n={_escaped(login.username)},r={nonce}{extension}"
    challenge = _fields((yield f"n,,{first}".encode()), "r", "s", "i")
    server_first = challenge.text
    server_nonce, salt, iterations = challenge["r"], _decoded(challenge["s"]), _count(challenge["i"])
    if not server_nonce.startswith(nonce) or server_nonce == nonce:
        raise LoginFailedError("the broker's SCRAM nonce does not continue ours: it may be an impostor")
    if iterations < ITERATIONS_MIN:
        raise LoginFailedError(f"the broker asks for {iterations} SCRAM iterations, {ITERATIONS_MIN} at least are safe")
    if iterations > _ITERATIONS_MAX:
        raise LoginFailedError(f"the broker asks for {iterations} SCRAM iterations: it may be an impostor")
    without_proof = f"c=biws,r={server_nonce}"
    signed = f"{first},{server_first},{without_proof}".encode()
    hash_name = HASHES[login.mechanism]
    salted = hashlib.pbkdf2_hmac(hash_name, login.password.encode(), salt, iterations)
    proof = _proof(hash_name, salted, signed)
    verdict = _fields((yield f"{without_proof},p={proof}".encode()), "v")
    server_key = hmac.digest(salted, b"Server Key", hash_name)
    if not hmac.compare_digest(hmac.digest(server_key, signed, hash_name), _decoded(verdict["v"])):
        raise LoginFailedError("the broker does not know our password, so it is not who it claims to be")


def _proof(hash_name: str, salted: bytes, signed: bytes) -> str:
    client_key = hmac.digest(salted, b"Client Key", hash_name)
    stored_key = hashlib.new(hash_name, client_key).digest()
    signature = hmac.digest(stored_key, signed, hash_name)
    return base64.b64encode(bytes(left ^ right for left, right in zip(client_key, signature, strict=True))).decode()


def _escaped(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


class _Fields(dict[str, str]):
    """A message's fields by letter, with the text they came from."""

    text = ""


def _fields(message: bytes, *needed: str) -> _Fields:
    text = message.decode("utf-8", "replace")
    found = _Fields(_pairs(text))
    found.text = text
    if "e" in found:
        raise LoginFailedError(f"the broker refused: {found['e']}")
    if any(name not in found for name in needed):
        raise LoginFailedError("the broker's SCRAM message lacks a part that it must have")
    return found


def _pairs(text: str) -> Mapping[str, str]:
    return {part[:1]: part[2:] for part in text.split(",") if part[1:2] == "="}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise LoginFailedError("the broker's SCRAM message is not base64 where it must be") from None


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS_MAX:
        raise LoginFailedError("the broker's SCRAM message has no number of iterations")
    return int(text)
