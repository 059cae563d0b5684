"""Fingerprints of a schema: short numbers that name it where a registry is not at hand."""

import enum
import hashlib
from typing import Final

_EMPTY: Final = 0xC15D213AA4D7A795


class Algorithm(enum.Enum):
    """The digests of fingerprints, with Avro's names as values."""

    RABIN = "CRC-64-AVRO"
    MD5 = "MD5"
    SHA256 = "SHA-256"


def fingerprint(parsing_form: str, algorithm: Algorithm = Algorithm.RABIN) -> bytes:
    """The fingerprint of a schema's Parsing Canonical Form; Rabin's has its lowest byte first, as Avro stores it."""
    content = parsing_form.encode("utf-8", "replace")
    if algorithm is Algorithm.MD5:
        return hashlib.md5(content, usedforsecurity=False).digest()
    if algorithm is Algorithm.SHA256:
        return hashlib.sha256(content).digest()
    return rabin(content).to_bytes(8, "little")


def rabin(content: bytes) -> int:
    """CRC-64-AVRO, as an unsigned number.

    >>> hex(rabin(b'"int"'))
    '0x7275d51a3f395c8f'
    """
    value = _EMPTY
    for byte in content:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value


def _table_entry(index: int) -> int:
    value = index
    for _ in range(8):
        value = (value >> 1) ^ (_EMPTY & -(value & 1))
    return value


_TABLE: Final = tuple(map(_table_entry, range(256)))
