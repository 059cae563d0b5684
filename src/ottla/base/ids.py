"""Ids with a text form of their own."""

import base64
from typing import Final


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
            raw = base64.b64decode(text + "==", altchars=b"-_", validate=True)
        except ValueError as error:
            raise ValueError(f"{text!r} is not a base64 uuid") from error
        if len(raw) != 16 or len(text) != 22:
            raise ValueError(f"{text!r} is not 22 characters of base64, so no uuid")
        return cls(raw)

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self)[:22].decode()

    def __repr__(self) -> str:
        return f"Uuid({str(self)!r})"


ZERO_UUID: Final = Uuid(16)
"""Sixteen zero bytes: "no id" wherever an id travels."""
