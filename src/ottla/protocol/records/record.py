"""A record as it is read and written: a plain tuple on fast paths, the named `Record` where people read the code.

Both have the same five fields in the same order and compare equal; writers take either.
"""

from typing import NamedTuple, TypeAlias

Header: TypeAlias = tuple[str, bytes | None]
"""Name and value; a name may occur more than once, and order counts."""

RecordTuple: TypeAlias = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]
"""Offset, timestamp in milliseconds (-1 for none), key, value, headers."""


class Record(NamedTuple):
    """One record.

    >>> Record(offset=3, timestamp=1_700_000_000_000, key=b"k", value=None).value is None
    True
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
