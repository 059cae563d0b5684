"""The data between the Arrow codec and its loops over records: raw buffers, and the words of their errors.

Nothing here knows pyarrow. A buffer is anything that has Python's buffer protocol; integers in it have the machine's
byte order, validity bitmaps are Arrow's: one bit per row, lowest bit first, 1 for present.
"""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

#: Arrow's binary arrays have int32 offsets, so this is the most bytes that one column can hold.
COLUMN_BYTES_MAX: Final = 2**31 - 1

#: Where a reader starts that drops nothing.
NO_START: Final = -(2**63)

COLUMN_FULL: Final = "a column cannot hold that many bytes: decode fewer batches at a time"

ROW: Final = "the offsets of the array do not lie within its data"
TOO_LARGE: Final = "a record has more bytes than its length field can say"
NULL_HEADER_KEY: Final = "a header key is null"
SHORT_BUFFER: Final = "a buffer of the array is shorter than its rows need"


class Wanted(IntFlag):
    """Which columns a reader fills."""

    KEY = 1
    VALUE = 2
    HEADERS = 4
    OFFSET = 8
    TIMESTAMP = 16
    TIMESTAMP_TYPE = 32


class BinaryColumn(NamedTuple):
    """A binary array as it was read: int32 offsets, and no validity where nothing is null."""

    rows: int
    nulls: int
    validity: ReadableBuffer | None
    offsets: ReadableBuffer
    data: ReadableBuffer


class HeaderColumn(NamedTuple):
    """A list of (key, value) pairs per record: `offsets` count pairs."""

    offsets: ReadableBuffer
    keys: BinaryColumn
    values: BinaryColumn


class Columns(NamedTuple):
    """All that was read; None where a column was not wanted."""

    rows: int
    key: BinaryColumn | None
    value: BinaryColumn | None
    headers: HeaderColumn | None
    offset: ReadableBuffer | None
    timestamp: ReadableBuffer | None
    timestamp_type: ReadableBuffer | None


class BinarySource(NamedTuple):
    """A binary array to write from: row 0 is element `first`; offsets have `width` bytes, 4 or 8."""

    first: int
    validity: ReadableBuffer | None
    offsets: ReadableBuffer
    data: ReadableBuffer
    width: int


class LongSource(NamedTuple):
    """An int64 array to write from: row 0 is element `first`."""

    first: int
    validity: ReadableBuffer | None
    values: ReadableBuffer


class HeaderSource(NamedTuple):
    """A list array to write from, int32 offsets; where a list is null there are no headers."""

    first: int
    validity: ReadableBuffer | None
    offsets: ReadableBuffer
    pairs: int
    keys: BinarySource
    values: BinarySource


class Source(NamedTuple):
    """Records to write, as columns; where a timestamp is missing, `default_timestamp` is written."""

    rows: int
    value: BinarySource
    key: BinarySource | None
    headers: HeaderSource | None
    timestamp: LongSource | None
    default_timestamp: int


class Written(NamedTuple):
    """The records `start` to `stop` as a batch's section, behind the bytes left free for its header."""

    section: bytearray
    stop: int
    base_timestamp: int
    max_timestamp: int
