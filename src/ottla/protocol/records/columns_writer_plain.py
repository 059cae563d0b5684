"""The loop from Arrow buffers to record sections in plain Python; `_columns_writer` does the same, compiled.

Offsets are checked for every row, null or not: the compiled loop counts on them to rise. A header's key is written as
it is in the array, which pyarrow does not hold to UTF-8 unless asked to.
"""

from ottla.protocol.errors import EncodeError
from ottla.protocol.records import frames_plain
from ottla.protocol.records.columns_layout import (
    NULL_HEADER_KEY,
    ROW,
    SHORT_BUFFER,
    TOO_LARGE,
    BinarySource,
    HeaderSource,
    LongSource,
    Source,
    Written,
)
from ottla.protocol.records.memory import contiguous

_INT32_MAX = 2**31 - 1


class _Validity:
    """Says of which elements there is a value."""

    def __init__(self, source: BinarySource | HeaderSource | LongSource, rows: int) -> None:
        if source.first < 0:
            raise EncodeError(SHORT_BUFFER)
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
        self._data = _held(source.data)

    def get(self, row: int) -> bytes | None:
        start, stop = self._offsets[self._first + row], self._offsets[self._first + row + 1]
        if not 0 <= start <= stop <= len(self._data):
            raise _RowError(ROW)
        return None if self._validity.is_null(row) else self._data[start:stop].tobytes()


class _Headers:
    """Lists of headers by rows."""

    def __init__(self, source: HeaderSource, rows: int) -> None:
        self._first = source.first
        self._pairs = source.pairs
        self._validity = _Validity(source, rows)
        self._offsets = _held(source.offsets, (source.first + rows + 1) * 4 if rows else 0).cast("i")
        self._keys = _Strings(source.keys, source.pairs)
        self._values = _Strings(source.values, source.pairs)

    def get(self, row: int) -> list[tuple[bytes, bytes | None]]:
        start, stop = self._offsets[self._first + row], self._offsets[self._first + row + 1]
        if not 0 <= start <= stop <= self._pairs:
            raise _RowError(ROW)
        absent = self._validity.is_null(row)
        headers = []
        for pair in range(start, stop):
            key, value = self._keys.get(pair), self._values.get(pair)
            if key is not None:
                headers.append((key, value))
            elif not absent:
                raise _RowError(NULL_HEADER_KEY)
        return [] if absent else headers


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
            values = _held(source.timestamp.values, (first + source.rows) * 8)
            self._timestamps = values.cast("q")[first:]

    def section(self, start: int, room: int, bytes_max: int) -> Written:
        """The records from row `start` on, as many as fit into `bytes_max` together with `room`, one at least."""
        if not 0 <= start < self._rows:
            raise ValueError("the section starts at a row that is not there")
        out = bytearray(room)
        base_timestamp = max_timestamp = self._timestamp(start)
        row = start
        while row < self._rows:
            timestamp = self._timestamp(row)
            before = len(out)
            try:
                self._append(out, row, (frames_plain.wrap(timestamp - base_timestamp), row - start))
            except _RowError as error:
                raise EncodeError(str(error), path=f"records[{row}]") from None
            if len(out) > bytes_max and row > start:
                del out[before:]
                break
            max_timestamp = max(max_timestamp, timestamp)
            row += 1
        return Written(out, row, base_timestamp, max_timestamp)

    def _timestamp(self, row: int) -> int:
        if self._timestamps is None or self._timestamp_validity.is_null(row):
            return self._default_timestamp
        timestamp: int = self._timestamps[row]
        return timestamp

    def _append(self, out: bytearray, row: int, deltas: tuple[int, int]) -> None:
        """Appends the row's frame."""
        body = bytearray(1)
        for delta in deltas:
            frames_plain.put_varlong(body, delta)
        _put_bytes(body, self._key.get(row) if self._key is not None else None)
        _put_bytes(body, self._value.get(row))
        headers = self._headers.get(row) if self._headers is not None else []
        frames_plain.put_varlong(body, len(headers))
        for header in headers:
            for field in header:
                _put_bytes(body, field)
        if len(body) > _INT32_MAX:
            raise _RowError(TOO_LARGE)
        frames_plain.put_varlong(out, len(body))
        out += body


def _put_bytes(out: bytearray, value: bytes | None) -> None:
    frames_plain.put_varlong(out, -1 if value is None else len(value))
    out += value or b""


def _held(buffer: object, bytes_needed: int | None = None) -> memoryview:
    """The needed number of bytes, or all."""
    view = contiguous(buffer)  # type: ignore[arg-type]
    if bytes_needed is None:
        return view
    if len(view) < bytes_needed:
        raise EncodeError(SHORT_BUFFER)
    return view[:bytes_needed]
