"""SCRAM credentials of users. The server is never told a password, only what it salts to."""

from typing import NamedTuple

from ottla.protocol.scram import ScramMechanism

__all__ = ["ScramCredentialInfo", "ScramMechanism", "UserScramCredentialDeletion", "UserScramCredentialUpsertion"]


class ScramCredentialInfo(NamedTuple):
    """The visible part of a credential."""

    mechanism: ScramMechanism
    iterations: int


class UserScramCredentialUpsertion(NamedTuple):
    """A credential to be set; without a salt a random one is taken."""

    user: str
    mechanism: ScramMechanism
    password: bytes
    iterations: int = 4096
    salt: bytes | None = None

    def __repr__(self) -> str:
        return f"UserScramCredentialUpsertion(user={self.user!r}, mechanism={self.mechanism.mechanism_name}, ***)"


class UserScramCredentialDeletion(NamedTuple):
    """A credential to be removed."""

    user: str
    mechanism: ScramMechanism
