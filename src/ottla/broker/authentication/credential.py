"""Users in the cluster's metadata: SCRAM credentials, and delegation tokens with their owners (KIP-48).

A token's password is made from the cluster's secret, so no record holds it. What costs many iterations to make from a
password is made once and remembered.
"""

import base64
import os
from collections.abc import Callable, Hashable
from typing import Final, Protocol

from ottla.metadata.image.delegation_token import token_hmac
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.metadata.image.scram import ScramUser
from ottla.net.sasl.scram import HASHES
from ottla.net.sasl.scram_server import ScramName, ServerCredential, credential_of
from ottla.net.sasl.server import Identity, user
from ottla.protocol.scram import ScramMechanism

_NUMBERS: Final = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
_MADE_MAX: Final = 1_000
"""Credentials that are remembered; then they are made anew."""
_SALT_BYTES: Final = 24


class Passwords(Protocol):
    """Users beside those of the metadata."""

    def password(self, name: str) -> str | None:
        """The password of a user; None if there is no such user."""
        ...


class Credentials:
    """Finds what SCRAM checks its clients with."""

    def __init__(self, now_ms: Callable[[], int], token_secret: str | None) -> None:
        self.image: Callable[[], MetadataImage] = lambda: EMPTY_IMAGE
        """The newest metadata, once there is some."""
        self._now_ms: Final = now_ms
        self._token_secret: Final = token_secret.encode() if token_secret else None
        self._made: Final[dict[Hashable, ServerCredential]] = {}

    @property
    def has_token_secret(self) -> bool:
        """Whether delegation tokens may log in."""
        return self._token_secret is not None

    def find(self, name: ScramName, passwords: Passwords | None) -> ServerCredential | None:
        """The credential of a user, or of a token; None if there is none."""
        if name.is_token:
            return self._of_token(name)
        stored = self.image().scram.get(ScramUser(_NUMBERS[name.mechanism], name.username))
        if stored is not None:
            return ServerCredential(*stored, Identity(user(name.username)))
        password = None if passwords is None else passwords.password(name.username)
        if password is None:
            return None
        return self._make(name.mechanism, password, Identity(user(name.username)))

    def _of_token(self, name: ScramName) -> ServerCredential | None:
        token = self.image().delegation_tokens.get(name.username)
        if token is None or self._token_secret is None or token.has_expired(self._now_ms()):
            return None
        password = base64.b64encode(token_hmac(self._token_secret, token.token_id)).decode()
        ends_ms = min(token.expiration_timestamp, token.max_timestamp)
        return self._make(name.mechanism, password, Identity(token.owner, is_token=True, expires_at_ms=ends_ms))

    def _make(self, mechanism: str, password: str, identity: Identity) -> ServerCredential:
        key = mechanism, password, identity
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _MADE_MAX:
                self._made.clear()
            made = credential_of(HASHES[mechanism], password, os.urandom(_SALT_BYTES), identity)
            self._made[key] = made
        return made


def credential_of_password(
    mechanism: str, find_password: Callable[[str], str | None], name: ScramName
) -> ServerCredential | None:
    """The credential of a user by a password kept elsewhere, for one log-in; None for tokens and unknown users."""
    password = None if name.is_token else find_password(name.username)
    if password is None:
        return None
    return credential_of(HASHES[mechanism], password, os.urandom(_SALT_BYTES), Identity(user(name.username)))
