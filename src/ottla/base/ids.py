"""Ids with a text form of their own."""

import binascii
from typing import Final

# Only what the parser needs: base64 would import regular expressions into every tool.
_TO_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_FROM_URL_SAFE = bytes.maketrans(b"-_+/", b"+/!!")


class Uuid(bytes):
    """Sixteen bytes that name a topic, a directory or a process; as text, 22 characters of URL-safe base64.

    It is a `bytes` so that the wire, the disk and dictionaries take it as it is.

    >>> Uuid.parse("AAAAAAAAAAAAAAAAAAAAAQ")
    Uuid('AAAAAAAAAAAAAAAAAAAAAQ')
    >>> len(Uuid.parse("AAAAAAAAAAAAAAAAAAAAAQ"))
    16
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> "Uuid":
        """The id that `text` spells; `ValueError` if it spells none."""
        try:
            raw = binascii.a2b_base64(text.encode().translate(_FROM_URL_SAFE) + b"==", strict_mode=True)
        except ValueError as error:
            raise ValueError(f"{text!r} is not a base64 uuid") from error
        if len(raw) != 16 or len(text) != 22:
            raise ValueError(f"{text!r} is not 22 characters of base64, so no uuid")
        return cls(raw)

    def __str__(self) -> str:
        return binascii.b2a_base64(self, newline=False)[:22].translate(_TO_URL_SAFE).decode()

    def __repr__(self) -> str:
        return f"Uuid({str(self)!r})"


ZERO_UUID: Final = Uuid(16)
"""Sixteen zero bytes: "no id" wherever an id travels."""
