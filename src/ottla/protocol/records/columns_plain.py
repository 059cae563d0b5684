"""The loop from record sections to Arrow buffers in plain Python, on top of the records that `frames_plain` reads.

`_columns` does the same, compiled; errors are those of `frames`. Its one freedom: header keys that are not UTF-8 come
out of it as they are, and out of here with replacement characters; `arrow` makes them equal.
"""

from array import array

from ottla.base.buffer import Buffer
from ottla.protocol.errors import DecodeError
from ottla.protocol.records import frames_plain
from ottla.protocol.records.columns_layout import (
    COLUMN_BYTES_MAX,
    COLUMN_FULL,
    NO_START,
    BinaryColumn,
    Columns,
    HeaderColumn,
    Wanted,
)


class _Column:
    """A binary column that grows row by row."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._offsets = array("i", [0])
        self._data = bytearray()
        self._null_rows: list[int] = []

    @property
    def rows(self) -> int:
        return len(self._offsets) - 1

    def push(self, value: bytes | None) -> bool:
        """One more row; False if the column has no room for it."""
        if value is None:
            self._null_rows.append(self.rows)
        elif len(self._data) + len(value) > self._limit:
            return False
        else:
            self._data += value
        self._offsets.append(len(self._data))
        return True

    def finished(self) -> BinaryColumn:
        """The column's buffers."""
        validity = None
        if self._null_rows:
            validity = bytearray(b"\xff") * ((self.rows + 7) // 8)
            for row in self._null_rows:
                validity[row >> 3] &= ~(1 << (row & 7))
        return BinaryColumn(self.rows, len(self._null_rows), validity, self._offsets, self._data)


class ColumnReader:
    """Fills the wanted columns with the records of one section after another; drops those before `start_offset`.

    `bytes_expected` are the bytes of all sections, if known, and `limit` the most that a column may hold.
    """

    def __init__(
        self,
        wanted: int,
        start_offset: int = NO_START,
        bytes_expected: int = 0,
        limit: int = COLUMN_BYTES_MAX,
    ) -> None:
        self._wanted = Wanted(wanted)
        self._start_offset = start_offset
        self._limit = limit
        self._key = _Column(limit)
        self._value = _Column(limit)
        self._header_keys = _Column(limit)
        self._header_values = _Column(limit)
        self._header_offsets = array("i", [0])
        self._offset = array("q")
        self._timestamp = array("q")
        self._timestamp_type = array("i")

    def append(
        self, data: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None
    ) -> None:
        """Reads the records of a section; arguments as for `frames.decode`."""
        records = frames_plain.iterate(data, count, base_offset, base_timestamp, log_append_time)
        timestamp_type = 0 if log_append_time is None else 1
        for index, record in enumerate(records):
            if record[0] >= self._start_offset and not self._push(record, timestamp_type):
                # Malformed records count before full columns, wherever they are.
                frames_plain.scan(data, count, base_timestamp)
                raise DecodeError(COLUMN_FULL, path=f"records[{index}]")

    def _push(self, record: frames_plain.RecordTuple, timestamp_type: int) -> bool:
        offset, timestamp, key, value, headers = record
        if Wanted.KEY in self._wanted and not self._key.push(key):
            return False
        if Wanted.VALUE in self._wanted and not self._value.push(value):
            return False
        if Wanted.HEADERS in self._wanted and not self._push_headers(headers):
            return False
        self._offset.append(offset)
        self._timestamp.append(timestamp)
        self._timestamp_type.append(timestamp_type)
        return True

    def _push_headers(self, headers: tuple[frames_plain.Header, ...]) -> bool:
        if self._header_keys.rows + len(headers) > self._limit:
            return False
        for key, value in headers:
            if not self._header_keys.push(key.encode()) or not self._header_values.push(value):
                return False
        self._header_offsets.append(self._header_keys.rows)
        return True

    def finish(self) -> Columns:
        """Hands out the columns; the reader is used up."""
        wanted = self._wanted
        headers = HeaderColumn(self._header_offsets, self._header_keys.finished(), self._header_values.finished())
        return Columns(
            len(self._offset),
            self._key.finished() if Wanted.KEY in wanted else None,
            self._value.finished() if Wanted.VALUE in wanted else None,
            headers if Wanted.HEADERS in wanted else None,
            self._offset if Wanted.OFFSET in wanted else None,
            self._timestamp if Wanted.TIMESTAMP in wanted else None,
            self._timestamp_type if Wanted.TIMESTAMP_TYPE in wanted else None,
        )
