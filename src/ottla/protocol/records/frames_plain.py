"""The loops over record frames in plain Python, and what is wrong with a frame in words.

A frame: length varint, attributes int8, timestamp delta varlong, offset delta varint, key and value each with a varint
length (negative for null), header count varint, headers of name and value. As in Apache Kafka the attributes are
ignored, any negative length means null (but not for a header's name), and sums wrap at 64 bits. A header's name that
is not UTF-8 reads with replacement characters.

`_frames` does the same, compiled; the functions below `refuse` serve both.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

from ottla.base.buffer import Buffer
from ottla.protocol.errors import DecodeError, EncodeError
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.record import Header, RecordTuple
from ottla.protocol.records.timestamp import NO_TIMESTAMP

__all__ = [
    "Demands",
    "Facts",
    "Header",
    "Invalid",
    "RecordTuple",
    "decode",
    "encode",
    "encode_record",
    "find_invalid",
    "iterate",
    "record_size",
    "scan",
]

Facts: TypeAlias = tuple[int, int, int, bool]
"""Lowest timestamp other than -1, highest timestamp, records without key, whether offset deltas are 0, 1, 2, …"""

Invalid: TypeAlias = tuple[int, int, int, bool]
"""A record that does not meet the demands: index, offset delta, timestamp, whether it has a key."""

_INT32_MAX = 2**31 - 1
_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1
_VARINT_BYTES_MAX = 5
_VARLONG_BYTES_MAX = 10


class Demands(NamedTuple):
    """The rules for each record of a section, besides having its index as offset delta."""

    key: bool
    """Whether it needs a key."""
    earliest: int = _INT64_MIN
    latest: int = _INT64_MAX
    """Between which timestamps its own lies, if it has one."""

    def are_met(self, index: int, offset_delta: int, timestamp: int, *, has_key: bool) -> bool:
        """Whether the record at `index` is as demanded."""
        in_time = timestamp == NO_TIMESTAMP or self.earliest <= timestamp <= self.latest
        return in_time and offset_delta == index and (has_key or not self.key)


def scan(data: Buffer, count: int, base_timestamp: int) -> Facts:
    """Checks every frame of a record section and says what the validator needs to know of them."""
    lowest, highest = _INT64_MAX, _INT64_MIN
    null_keys = 0
    consecutive = True
    for index, (timestamp_delta, offset_delta, key, _, _) in enumerate(_frames(data, count)):
        timestamp = wrap(base_timestamp + timestamp_delta)
        highest = max(highest, timestamp)
        if timestamp != -1:
            lowest = min(lowest, timestamp)
        null_keys += key is None
        consecutive &= offset_delta == index
    return lowest if lowest != _INT64_MAX else -1, highest if count else -1, null_keys, consecutive


def find_invalid(data: Buffer, count: int, base_timestamp: int, demands: Demands, found_max: int) -> list[Invalid]:
    """The first records that do not meet the demands, `found_max` at most; nothing is made of the others."""
    found: list[Invalid] = []
    for index, (timestamp_delta, offset_delta, key, _, _) in enumerate(_frames(data, count)):
        timestamp = wrap(base_timestamp + timestamp_delta)
        if demands.are_met(index, offset_delta, timestamp, has_key=key is not None):
            continue
        found.append((index, offset_delta, timestamp, key is not None))
        if len(found) == found_max:
            break
    return found


def decode(
    data: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None
) -> list[RecordTuple]:
    """The records as tuples of offset, timestamp, key, value and headers."""
    return list(iterate(data, count, base_offset, base_timestamp, log_append_time))


def iterate(
    data: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None
) -> Iterator[RecordTuple]:
    """Decodes records one at a time; a malformed record is noticed when its turn comes."""
    check_count(count)
    return (
        (
            wrap(base_offset + offset_delta),
            wrap(base_timestamp + timestamp_delta) if log_append_time is None else log_append_time,
            key,
            value,
            headers,
        )
        for timestamp_delta, offset_delta, key, value, headers in _frames(data, count)
    )


def encode(records: Sequence[Any], base_offset: int, base_timestamp: int, reserve: int) -> tuple[bytearray, int, int]:
    """The records' frames behind `reserve` zero bytes, the last offset delta and highest timestamp (-1 for none)."""
    out = bytearray(reserve)
    last_delta, highest = -1, -1
    for index, record in enumerate(records):
        encode_record(out, record, index, base_offset, base_timestamp)
        delta = record[0] - base_offset
        if delta <= last_delta:
            raise out_of_order(index, record[0], base_offset + last_delta)
        last_delta = delta
        highest = record[1] if index == 0 else max(highest, record[1])
    return out, last_delta, highest


def record_size(record: Any, index: int, base_offset: int, base_timestamp: int) -> int:
    """Bytes that the record's frame takes, its length included; `index` is for the error."""
    out = bytearray()
    encode_record(out, record, index, base_offset, base_timestamp)
    return len(out)


def _frames(data: Buffer, count: int) -> Iterator[tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]]:
    check_count(count)
    raw = data if type(data) is bytes else bytes(contiguous(data))
    position = 0
    for index in range(count):
        try:
            frame = read_frame(raw, position)
        except IndexError:
            frame = None
        if frame is None:
            refuse(raw, position, index, count)
        yield frame[0]
        position = frame[1]
    if position != len(raw):
        refuse(raw, position, count, count)


def read_frame(
    raw: bytes, at: int
) -> tuple[tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]], int] | None:
    """A frame's fields and the position after it; None or IndexError if it is malformed."""
    # Numbers of one byte, as most are, are read in place: a call each would double the time.
    size = raw[at]
    size, at = (size >> 1 ^ -(size & 1), at + 1) if size < 0x80 else read_varint(raw, at)
    end = at + size
    if size < 1 or end > len(raw):
        return None
    timestamp_delta, at = _varlong(raw, at + 1)
    offset_delta, at = read_varint(raw, at)
    size = raw[at]
    size, at = (size >> 1 ^ -(size & 1), at + 1) if size < 0x80 else read_varint(raw, at)
    key = None
    if size >= 0:
        key = raw[at : at + size]
        at += size
    if at > end:
        return None
    size = raw[at]
    size, at = (size >> 1 ^ -(size & 1), at + 1) if size < 0x80 else read_varint(raw, at)
    value = None
    if size >= 0:
        value = raw[at : at + size]
        at += size
    if at > end:
        return None
    headers: tuple[Header, ...] = ()
    if raw[at] == 0:
        at += 1
    else:
        count, at = read_varint(raw, at)
        found = _headers(raw, at, end, count) if 0 <= count <= end - at else None
        if found is None:
            return None
        headers, at = found
    return ((timestamp_delta, offset_delta, key, value, headers), at) if at == end else None


def _headers(raw: bytes, at: int, end: int, count: int) -> tuple[tuple[Header, ...], int] | None:
    headers = []
    for _ in range(count):
        size, at = read_varint(raw, at)
        if not 0 <= size <= end - at:
            return None
        name = raw[at : at + size].decode("utf-8", "replace")
        size, at = read_varint(raw, at + size)
        value = None
        if size >= 0:
            value = raw[at : at + size]
            at += size
        if at > end:
            return None
        headers.append((name, value))
    return tuple(headers), at


def read_varint(raw: bytes, at: int) -> tuple[int, int]:
    byte = raw[at]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    value, at = _uvarint(raw, at, _VARINT_BYTES_MAX)
    value &= 0xFFFFFFFF
    return (value >> 1) ^ -(value & 1), at


def _varlong(raw: bytes, at: int) -> tuple[int, int]:
    byte = raw[at]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    value, at = _uvarint(raw, at, _VARLONG_BYTES_MAX)
    value &= 0xFFFFFFFFFFFFFFFF
    return (value >> 1) ^ -(value & 1), at


def _uvarint(raw: bytes | memoryview, at: int, bytes_max: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * bytes_max, 7):
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError


def wrap(value: int) -> int:
    """The number in 64 bits, as Java's longs wrap."""
    if _INT64_MIN <= value <= _INT64_MAX:
        return value
    return (value - _INT64_MIN) % 2**64 + _INT64_MIN


def check_count(count: int) -> None:
    """A batch cannot have fewer than no records."""
    if not 0 <= count <= _INT32_MAX:
        raise DecodeError(f"a count of {count} records", path="records")


def refuse(data: Buffer, position: int, index: int, count: int) -> NoReturn:
    """Raises what is wrong with record `index` of `count`, at `position` of its section."""
    view = memoryview(data).cast("B")
    if index == count:
        raise DecodeError(f"{len(view) - position} bytes after the last record", path="records", position=position)
    if position == len(view):
        raise DecodeError(f"{index} records where {count} were announced", path="records", position=position)
    _Frame(view, position, f"records[{index}]").explain()


class _Frame:
    """One malformed frame, read again slowly until the reason shows."""

    def __init__(self, view: memoryview, position: int, path: str) -> None:
        self._view = view
        self._end = len(view)
        self._position = position
        self._path = path

    def explain(self) -> NoReturn:
        start = self._position
        size = self._number("length")
        if size < 1 or size > self._end - self._position:
            raise self._error(f"a length of {size} with {self._end - self._position} bytes left", "length", start)
        self._end = self._position + size
        self._position += 1
        self._number("timestamp", _VARLONG_BYTES_MAX)
        self._number("offset")
        self._skip("key")
        self._skip("value")
        start = self._position
        count = self._number("headers")
        if not 0 <= count <= self._end - self._position:
            raise self._error(f"{count} headers with {self._end - self._position} bytes left", "headers", start)
        for index in range(count):
            self._header(f"headers[{index}]")
        left = self._end - self._position
        raise self._error(f"{left} bytes after the last field" if left else "malformed", "", self._position)

    def _header(self, field: str) -> None:
        start = self._position
        if self._skip(field + ".name") < 0:
            raise self._error("null", field + ".name", start)
        self._skip(field + ".value")

    def _skip(self, field: str) -> int:
        start = self._position
        size = self._number(field)
        if size > self._end - self._position:
            raise self._error(f"a length of {size} with {self._end - self._position} bytes left", field, start)
        self._position += max(size, 0)
        return size

    def _number(self, field: str, bytes_max: int = _VARINT_BYTES_MAX) -> int:
        start = self._position
        try:
            value, self._position = _uvarint(self._view[: self._end], start, bytes_max)
        except IndexError:
            short = self._end - start < bytes_max
            reason = "the bytes end inside a number" if short else f"a number of more than {bytes_max} bytes"
            raise self._error(reason, field, start) from None
        value &= 0xFFFFFFFF if bytes_max == _VARINT_BYTES_MAX else 0xFFFFFFFFFFFFFFFF
        return (value >> 1) ^ -(value & 1)

    def _error(self, reason: str, field: str, position: int) -> DecodeError:
        return DecodeError(reason, path=f"{self._path}.{field}" if field else self._path, position=position)


def out_of_order(index: int, offset: int, previous: int) -> EncodeError:
    """Offsets in a batch only rise."""
    return EncodeError(f"{offset} after {previous}", path=f"records[{index}].offset")


def encode_record(out: bytearray, record: Any, index: int, base_offset: int, base_timestamp: int) -> None:
    """Appends the record's frame, or says which of its fields cannot be written."""
    path = f"records[{index}]"
    if not isinstance(record, tuple) or len(record) != 5:
        raise EncodeError("not a tuple of offset, timestamp, key, value and headers", path=path)
    offset, timestamp, key, value, headers = record
    body = bytearray(1)
    put_varlong(body, _timestamp_delta(timestamp, base_timestamp, path))
    put_varlong(body, _offset_delta(offset, base_offset, path))
    _put_bytes(body, key, f"{path}.key")
    _put_bytes(body, value, f"{path}.value")
    _put_headers(body, headers, path)
    if len(body) > _INT32_MAX:
        raise EncodeError(f"{len(body)} bytes in one record", path=path)
    put_varlong(out, len(body))
    out += body


def _timestamp_delta(timestamp: Any, base_timestamp: int, path: str) -> int:
    if not isinstance(timestamp, int) or not _INT64_MIN <= timestamp <= _INT64_MAX:
        raise EncodeError(f"{timestamp!r} is not a 64-bit integer", path=f"{path}.timestamp")
    return wrap(timestamp - base_timestamp)


def _offset_delta(offset: Any, base_offset: int, path: str) -> int:
    if not isinstance(offset, int) or not _INT64_MIN <= offset <= _INT64_MAX:
        raise EncodeError(f"{offset!r} is not a 64-bit integer", path=f"{path}.offset")
    if not 0 <= offset - base_offset <= _INT32_MAX:
        raise EncodeError(f"{offset} does not fit a batch that starts at {base_offset}", path=f"{path}.offset")
    return offset - base_offset


def _put_headers(out: bytearray, headers: Any, path: str) -> None:
    if not isinstance(headers, tuple | list):
        raise EncodeError(f"{type(headers).__name__} is not a sequence of headers", path=f"{path}.headers")
    put_varlong(out, len(headers))
    for index, header in enumerate(headers):
        here = f"{path}.headers[{index}]"
        if not isinstance(header, tuple) or len(header) != 2 or not isinstance(header[0], str):
            raise EncodeError("not a tuple of name and value", path=here)
        try:
            name = header[0].encode()
        except UnicodeEncodeError as error:
            raise EncodeError(error.reason, path=f"{here}.name") from None
        _put_bytes(out, name, f"{here}.name")
        _put_bytes(out, header[1], f"{here}.value")


def _put_bytes(out: bytearray, value: Any, path: str) -> None:
    if value is None:
        out.append(1)
        return
    try:
        raw = value if type(value) is bytes else memoryview(value).tobytes()
    except TypeError:
        raise EncodeError(f"{type(value).__name__} is not bytes", path=path) from None
    if len(raw) > _INT32_MAX:
        raise EncodeError(f"{len(raw)} bytes", path=path)
    put_varlong(out, len(raw))
    out += raw


def put_varlong(out: bytearray, value: int) -> None:
    """Appends a zig-zag number of at most 64 bits."""
    raw = (value << 1) ^ (value >> 63)
    while raw >= 0x80:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
