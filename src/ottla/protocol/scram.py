"""The mechanisms of SCRAM by their numbers on the wire and in the metadata log (KIP-554)."""

from enum import IntEnum
from typing import Final


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
        """The name in Kafka's spelling.

        >>> ScramMechanism.SCRAM_SHA_256.mechanism_name
        'SCRAM-SHA-256'
        """
        return self.name.replace("_", "-")


SCRAM_MECHANISMS: Final = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
"""The mechanisms of credentials."""
