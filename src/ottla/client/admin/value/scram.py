"""SCRAM credentials of users. The server is never told a password, only what it salts to."""

from enum import IntEnum
from typing import NamedTuple


class ScramMechanism(IntEnum):
    """The hash that a credential is for."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @classmethod
    def _missing_(cls, value: object) -> "ScramMechanism":
        return cls.UNKNOWN

    @property
    def mechanism_name(self) -> str:
        """As Kafka writes it.

        >>> ScramMechanism.SCRAM_SHA_256.mechanism_name
        'SCRAM-SHA-256'
        """
        return self.name.replace("_", "-")


class ScramCredentialInfo(NamedTuple):
    """What can be seen of a credential."""

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
