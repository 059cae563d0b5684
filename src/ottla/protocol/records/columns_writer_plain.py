"""The loop from Arrow buffers to record sections in plain Python, on top of the frames that `frames_plain` writes.

`_columns_writer` does the same, compiled.
"""

from collections.abc import Iterator

from ottla.protocol.errors import EncodeError
from ottla.protocol.records import frames_plain
from ottla.protocol.records.columns_layout import (
    NULL_HEADER_KEY,
    ROW,
    SHORT_BUFFER,
    BinarySource,
    HeaderSource,
    LongSource,
    Source,
    Written,
)


class _Validity:
    """Says of which elements there is a value."""

    def __init__(self, source: BinarySource | HeaderSource | LongSource, rows: int) -> None:
        self._first = source.first
        self._bits = None
        if source.validity is not None:
            self._bits = _held(source.validity, (source.first + rows + 7) // 8)

    def is_null(self, row: int) -> bool:
        element = self._first + row
        return self._bits is not None and not self._bits[element >> 3] >> (element & 7) & 1


class _Strings:
    """A binary column by rows."""

    def __init__(self, source: BinarySource, rows: int) -> None:
        self._first = source.first
        self._validity = _Validity(source, rows)
        offsets = _held(source.offsets, (source.first + rows + 1) * source.width if rows else 0)
        self._offsets = offsets.cast("i" if source.width == 4 else "q")
        self._data = memoryview(source.data).cast("B")

    def get(self, row: int) -> bytes | None:
        if self._validity.is_null(row):
            return None
        start, stop = self._offsets[self._first + row], self._offsets[self._first + row + 1]
        if not 0 <= start <= stop <= len(self._data):
            raise _RowError(ROW)
        return self._data[start:stop].tobytes()


class _Headers:
    """Lists of headers by rows."""

    def __init__(self, source: HeaderSource, rows: int) -> None:
        self._first = source.first
        self._pairs = source.pairs
        self._validity = _Validity(source, rows)
        self._offsets = _held(source.offsets, (source.first + rows + 1) * 4 if rows else 0).cast("i")
        self._keys = _Strings(source.keys, source.pairs)
        self._values = _Strings(source.values, source.pairs)

    def get(self, row: int) -> Iterator[frames_plain.Header]:
        if self._validity.is_null(row):
            return
        start, stop = self._offsets[self._first + row], self._offsets[self._first + row + 1]
        if not 0 <= start <= stop <= self._pairs:
            raise _RowError(ROW)
        for pair in range(start, stop):
            key, value = self._keys.get(pair), self._values.get(pair)
            if key is None:
                raise _RowError(NULL_HEADER_KEY)
            yield key.decode(), value


class _RowError(Exception):
    """A row cannot be written; who knows its number turns this into an `EncodeError`."""


class ColumnWriter:
    """Writes the records of a source into sections, from any row on."""

    def __init__(self, source: Source) -> None:
        self._rows = source.rows
        self._value = _Strings(source.value, source.rows)
        self._key = _Strings(source.key, source.rows) if source.key is not None else None
        self._headers = _Headers(source.headers, source.rows) if source.headers is not None else None
        self._default_timestamp = source.default_timestamp
        self._timestamps: memoryview | None = None
        if source.timestamp is not None:
            first = source.timestamp.first
            self._timestamp_validity = _Validity(source.timestamp, source.rows)
            self._timestamps = _held(source.timestamp.values, (first + source.rows) * 8).cast("q")[first:]

    def section(self, start: int, room: int, bytes_max: int) -> Written:
        """The records from row `start` on, as many as fit into `bytes_max` together with `room`, one at least."""
        if not 0 <= start < self._rows:
            raise ValueError("the section starts at a row that is not there")
        out = bytearray(room)
        base_timestamp = max_timestamp = self._timestamp(start)
        row = start
        while row < self._rows:
            record = self._record(row, start)
            before = len(out)
            frames_plain.encode_record(out, record, row, 0, base_timestamp)
            if len(out) > bytes_max and row > start:
                del out[before:]
                break
            max_timestamp = max(max_timestamp, record[1])
            row += 1
        return Written(out, row, base_timestamp, max_timestamp)

    def _timestamp(self, row: int) -> int:
        if self._timestamps is None or self._timestamp_validity.is_null(row):
            return self._default_timestamp
        timestamp: int = self._timestamps[row]
        return timestamp

    def _record(self, row: int, start: int) -> frames_plain.RecordTuple:
        try:
            key = self._key.get(row) if self._key is not None else None
            value = self._value.get(row)
            headers = tuple(self._headers.get(row)) if self._headers is not None else ()
        except _RowError as error:
            raise EncodeError(str(error), path=f"records[{row}]") from None
        return (row - start, self._timestamp(row), key, value, headers)


def _held(buffer: object, bytes_min: int) -> memoryview:
    view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
    if len(view) < bytes_min:
        raise EncodeError(SHORT_BUFFER)
    return view
