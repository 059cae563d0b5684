"""The names of a segment's files: `<base offset, 20 digits><suffix>`.

Transient suffixes come on top: `.cleaned` (being written by the cleaner), `.swap` (whole, about to replace the
originals), `.deleted` (waiting for its delayed removal).
"""

from typing import Final, NamedTuple

LOG: Final = ".log"
OFFSET_INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TRANSACTION_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
SEGMENT_FILES: Final = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
"""The files of one segment, the log itself first."""

CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"
DELETED: Final = ".deleted"
TRANSIENT: Final = (CLEANED, SWAP, DELETED)

_DIGITS = 20


class FileName(NamedTuple):
    """The meaning of a file's name.

    >>> parse("00000000000000000042.timeindex.swap")
    FileName(base_offset=42, kind='.timeindex', transient='.swap')
    """

    base_offset: int
    kind: str
    transient: str


def name_of(base_offset: int, kind: str, transient: str = "") -> str:
    """A file's name.

    >>> name_of(42, LOG)
    '00000000000000000042.log'
    """
    return f"{base_offset:020d}{kind}{transient}"


def parse(name: str) -> FileName | None:
    """The meaning of the name; None if it is no segment's file and no snapshot."""
    digits, dot, rest = name.partition(".")
    if len(digits) != _DIGITS or not digits.isascii() or not digits.isdigit() or not dot:
        return None
    kind, second_dot, transient = rest.partition(".")
    kind = "." + kind
    transient = "." + transient if second_dot else ""
    if kind not in SEGMENT_FILES and kind != SNAPSHOT:
        return None
    if transient and transient not in TRANSIENT:
        return None
    return FileName(int(digits), kind, transient)
