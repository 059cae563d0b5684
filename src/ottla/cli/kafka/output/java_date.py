"""Times of day by the patterns of Java's SimpleDateFormat, as far as numbers go."""

import re
import time
from typing import Final

from ottla.cli.kafka.argument.option import ToolError

_PIECE: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")


class DateFormat:
    """A pattern of years (y), months (M), days (d), hours (H), minutes (m), seconds (s) and milliseconds (S).

    >>> len(DateFormat("yyyy-MM-dd HH:mm:ss:SSS").text(0))
    23
    """

    def __init__(self, pattern: str) -> None:
        self._pieces: Final = [found[0] for found in _PIECE.finditer(pattern)]
        if "".join(self._pieces) != pattern:
            raise ToolError("Unterminated quote")
        for piece in self._pieces:
            if piece[0].isalpha() and piece[0] not in "yMdHmsS":
                raise ToolError(f"Illegal pattern character '{piece[0]}'")

    def text(self, moment_ms: int) -> str:
        """A time in milliseconds since 1970, in the local time zone."""
        local = time.localtime(moment_ms // 1000)
        numbers = {
            "y": local.tm_year,
            "M": local.tm_mon,
            "d": local.tm_mday,
            "H": local.tm_hour,
            "m": local.tm_min,
            "s": local.tm_sec,
            "S": moment_ms % 1000,
        }
        return "".join(_shown(piece, numbers) for piece in self._pieces)


def _shown(piece: str, numbers: dict[str, int]) -> str:
    if piece.startswith("'"):
        return piece[1:-1].replace("''", "'") or "'"
    if piece[0] not in numbers:
        return piece
    number = numbers[piece[0]]
    if piece == "yy":
        number %= 100
    return str(number).zfill(len(piece))
