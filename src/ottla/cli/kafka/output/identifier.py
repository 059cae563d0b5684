"""Ids on the command line, and what Java says about those that are none."""

import binascii
import string
from typing import Final

from ottla.base.ids import Uuid
from ottla.cli.kafka.argument.option import ToolError

_LENGTH_MAX: Final = 24
_ALPHABET: Final = string.ascii_letters + string.digits + "-_"
_BYTES: Final = 16


def parse_uuid(text: str) -> Uuid:
    """The id that the text spells.

    >>> str(parse_uuid("AAAAAAAAAAAAAAAAAAAAAQ"))
    'AAAAAAAAAAAAAAAAAAAAAQ'
    """
    if len(text) > _LENGTH_MAX:
        raise ToolError(f"Input string with prefix `{text[:_LENGTH_MAX]}` is too long to be decoded as a base64 UUID")
    plain = text.rstrip("=")
    strange = next((character for character in plain if character not in _ALPHABET), None)
    if strange is not None:
        raise ToolError(f"Illegal base64 character {ord(strange):x}")
    if len(text) == 1:
        raise ToolError("Input byte[] should at least have 2 bytes for base64 bytes")
    if len(plain) % 4 == 1:
        raise ToolError("Last unit does not have enough valid bits")
    raw = binascii.a2b_base64(plain.replace("-", "+").replace("_", "/") + "=" * (-len(plain) % 4))
    if len(raw) != _BYTES:
        raise ToolError(
            f"Input string `{text}` decoded as {len(raw)} bytes, which is not equal to the expected {_BYTES} bytes "
            "of a base64-encoded UUID"
        )
    return Uuid(raw)
