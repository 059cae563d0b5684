"""Ids on the command line, and what Java says about those that are none."""

import binascii
from typing import Final

from ottla.base.ids import Uuid
from ottla.cli.kafka.option import ToolError

_LENGTH_MAX: Final = 24
_BYTES: Final = 16


def parse_uuid(text: str) -> Uuid:
    """The id that the text spells.

    >>> str(parse_uuid("AAAAAAAAAAAAAAAAAAAAAQ"))
    'AAAAAAAAAAAAAAAAAAAAAQ'
    """
    if len(text) > _LENGTH_MAX:
        raise ToolError(f"Input string with prefix `{text[:_LENGTH_MAX]}` is too long to be decoded as a base64 UUID")
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = binascii.a2b_base64(plain + "=" * (-len(plain) % 4))
    except ValueError:
        raise ToolError("Input byte[] should at least have 2 bytes for base64 bytes") from None
    if len(raw) != _BYTES:
        raise ToolError(
            f"Input string `{text}` decoded as {len(raw)} bytes, which is not equal to the expected {_BYTES} bytes "
            "of a base64-encoded UUID"
        )
    return Uuid(raw)
