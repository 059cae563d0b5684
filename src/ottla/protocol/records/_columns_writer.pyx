"""The compiled loop from Arrow buffers to record sections; `columns_writer_plain` is the twin to read first.

A record is measured, then written. The room that the records need at most follows from the offsets of the arrays, so
a section is allocated once. That holds only while offsets rise, so they are checked for every row, null or not, and
before they are followed; and nothing is written that the section has no room for, should the arrays change meanwhile.
No loop holds the GIL.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize, PyByteArray_Resize
from cython cimport final, no_gc
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint64_t

from ottla.protocol.records._columns_copy cimport COPY_STEP, copy_bytes
from ottla.protocol.records._varint cimport uvarint_size, varint_size, varlong_size, write_uvarint

from ottla.protocol.errors.malformed import EncodeError
from ottla.protocol.records import columns_layout as layout

cdef enum:
    NULL_ROW = -1
    ROW = -2
    TOO_LARGE = -3
    NULL_HEADER_KEY = -4
    PAIR_OVERHEAD = 5 + 5
    # Behind a section's last byte: a copy in steps may go beyond it, and so may a pair of headers that changed.
    SLACK = 2 * COPY_STEP

cdef dict REASONS = {
    ROW: layout.ROW,
    TOO_LARGE: layout.TOO_LARGE,
    NULL_HEADER_KEY: layout.NULL_HEADER_KEY,
}


# Without the collector: it could clear the buffer's owner while the buffer is still held.
@final
@no_gc
cdef class Held:
    """A buffer that stays where it is while a writer reads from it."""

    cdef Py_buffer view
    cdef bint held

    def __cinit__(self, buffer, bytes_min):
        PyObject_GetBuffer(buffer, &self.view, PyBUF_SIMPLE)
        self.held = True
        if self.view.len < bytes_min:
            raise EncodeError(layout.SHORT_BUFFER)

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef struct Strings:
    # A binary column; without data it is all null. One kind of offsets is there, the other is NULL.
    Py_ssize_t first
    const uint8_t* validity
    const int32_t* offsets
    const int64_t* wide_offsets
    const uint8_t* data
    const uint8_t* end


cdef struct Span:
    const uint8_t* data
    int64_t length  # or why there is none: NULL_ROW, ROW


cdef struct Progress:
    Py_ssize_t start  # the section's first row
    Py_ssize_t row  # the next to write
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t reason  # why the row cannot be written, if it cannot
    Py_ssize_t used  # bytes written
    Py_ssize_t full  # bytes that a section of more than one record may have
    Py_ssize_t capacity  # bytes that there is memory for


cdef inline uint64_t zigzag(int64_t number) noexcept nogil:
    return (<uint64_t>number << 1) ^ <uint64_t>(number >> 63)


cdef inline int size_of(uint64_t raw) noexcept nogil:
    """The bytes of a zig-zag number: nearly all have one or two, and comparing is quicker than counting bits."""
    if raw < 0x80:
        return 1
    if raw < 0x4000:
        return 2
    return uvarint_size(raw)


cdef inline uint8_t* put(uint8_t* at, uint64_t raw) noexcept nogil:
    """Writes a zig-zag number."""
    if raw < 0x80:
        at[0] = <uint8_t>raw
        return at + 1
    if raw < 0x4000:
        at[0] = <uint8_t>(raw | 0x80)
        at[1] = <uint8_t>(raw >> 7)
        return at + 2
    return write_uvarint(at, raw)


cdef inline bint is_null(const uint8_t* validity, Py_ssize_t element) noexcept nogil:
    return validity != NULL and not (validity[element >> 3] >> (element & 7)) & 1


cdef inline int64_t offset_of(const Strings* strings, Py_ssize_t element) noexcept nogil:
    return strings.offsets[element] if strings.offsets != NULL else strings.wide_offsets[element]


cdef inline Span span_of(const Strings* strings, Py_ssize_t row) noexcept nogil:
    """Where a row's bytes are."""
    cdef Span span
    cdef int64_t start, stop
    cdef Py_ssize_t element = strings.first + row
    span.data = NULL
    if strings.data == NULL:
        span.length = NULL_ROW
        return span
    start = offset_of(strings, element)
    stop = offset_of(strings, element + 1)
    if start < 0 or stop < start or stop > strings.end - strings.data:
        span.length = ROW
        return span
    if is_null(strings.validity, element):
        span.length = NULL_ROW
        return span
    span.data = strings.data + start
    span.length = stop - start
    return span


cdef inline Py_ssize_t bytes_between(const Strings* strings, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """The bytes of the rows from `start` to `stop`, if the offsets are sound; if not, writing them will tell."""
    cdef int64_t bytes
    if strings.data == NULL:
        return 0
    # As unsigned numbers: the offsets of a broken array may be as far apart as int64 allows.
    bytes = <int64_t>(
        <uint64_t>offset_of(strings, strings.first + stop) - <uint64_t>offset_of(strings, strings.first + start)
    )
    return max(0, min(bytes, strings.end - strings.data))


cdef inline int64_t sized(Span span) noexcept nogil:
    """The bytes that a length and its bytes take."""
    return 1 if span.length < 0 else span.length + size_of(<uint64_t>span.length << 1)


cdef inline uint8_t* put_bytes(uint8_t* at, Span span, const uint8_t* source_end) noexcept nogil:
    if span.length < 0:
        at[0] = 1
        return at + 1
    at = put(at, <uint64_t>span.length << 1)
    copy_bytes(at, span.data, span.length, source_end)
    return at + span.length


@final
cdef class ColumnWriter:
    """Writes the records of a source into sections, from any row on."""

    cdef Py_ssize_t rows
    cdef Strings key
    cdef Strings value
    cdef Strings header_keys
    cdef Strings header_values
    cdef Py_ssize_t header_first
    cdef Py_ssize_t pairs
    cdef const uint8_t* header_validity
    cdef const int32_t* header_offsets
    cdef Py_ssize_t timestamp_first
    cdef const uint8_t* timestamp_validity
    cdef const int64_t* timestamps
    cdef int64_t default_timestamp
    cdef Py_ssize_t record_overhead
    cdef list held

    def __init__(self, source):
        self.held = []
        self.rows = source.rows
        self.default_timestamp = source.default_timestamp
        self._hold_strings(&self.value, source.value, self.rows)
        if source.key is not None:
            self._hold_strings(&self.key, source.key, self.rows)
        if source.headers is not None:
            self._hold_headers(source.headers)
        if source.timestamp is not None:
            self.timestamp_first = source.timestamp.first
            self.timestamp_validity = self._hold_validity(source.timestamp, self.rows)
            self.timestamps = <const int64_t*>self._hold(
                source.timestamp.values, (source.timestamp.first + <object>self.rows) * 8
            )
        self._find_overheads()

    cdef const void* _hold(self, buffer, bytes_min) except? NULL:
        # The bytes are counted in Python's integers: a first row far out would overflow C's.
        cdef Held held = Held(buffer, bytes_min)
        self.held.append(held)
        return held.view.buf

    cdef const uint8_t* _hold_validity(self, source, Py_ssize_t rows) except? NULL:
        if source.first < 0:
            raise EncodeError(layout.SHORT_BUFFER)
        if source.validity is None:
            return NULL
        return <const uint8_t*>self._hold(source.validity, (source.first + <object>rows + 7) // 8)

    cdef int _hold_strings(self, Strings* strings, source, Py_ssize_t rows) except -1:
        cdef Held data
        cdef const void* offsets
        if rows == 0:
            return 0
        strings.first = source.first
        strings.validity = self._hold_validity(source, rows)
        offsets = self._hold(source.offsets, (source.first + <object>rows + 1) * source.width)
        if source.width == 4:
            strings.offsets = <const int32_t*>offsets
        else:
            strings.wide_offsets = <const int64_t*>offsets
        data = Held(source.data, 0)
        self.held.append(data)
        # An empty buffer may be at NULL, which here means a column that is not there.
        strings.data = <const uint8_t*>data.view.buf if data.view.buf != NULL else <const uint8_t*>b""
        strings.end = strings.data + data.view.len
        return 0

    cdef int _hold_headers(self, source) except -1:
        self.header_first = source.first
        self.pairs = source.pairs
        self.header_validity = self._hold_validity(source, self.rows)
        if self.rows:
            self.header_offsets = <const int32_t*>self._hold(
                source.offsets, (source.first + <object>self.rows + 1) * 4
            )
        self._hold_strings(&self.header_keys, source.keys, self.pairs)
        self._hold_strings(&self.header_values, source.values, self.pairs)
        return 0

    cdef inline int64_t _timestamp(self, Py_ssize_t row) noexcept nogil:
        if self.timestamps == NULL or is_null(self.timestamp_validity, self.timestamp_first + row):
            return self.default_timestamp
        return self.timestamps[self.timestamp_first + row]

    cdef int _find_overheads(self) except -1:
        """The most that a record's numbers can take, which the longest delta and the sizes of the columns tell."""
        cdef int64_t lowest, highest, timestamp
        cdef Py_ssize_t row
        cdef int64_t value_bytes = min(<int64_t>(self.value.end - self.value.data), INT32_MAX)
        cdef int64_t key_bytes = min(<int64_t>(self.key.end - self.key.data), INT32_MAX)
        with nogil:
            lowest = highest = self._timestamp(0) if self.rows else 0
            for row in range(1, self.rows):
                timestamp = self._timestamp(row)
                lowest = min(lowest, timestamp)
                highest = max(highest, timestamp)
        cdef uint64_t spread = <uint64_t>highest - <uint64_t>lowest
        self.record_overhead = (
            5 + 1 + (varlong_size(<int64_t>spread) if spread <= <uint64_t>INT64_MAX else 10)
            + varint_size(<int32_t>min(self.rows, INT32_MAX)) + varint_size(<int32_t>key_bytes)
            + varint_size(<int32_t>value_bytes) + varint_size(<int32_t>min(self.pairs, INT32_MAX))
        )
        return 0

    def section(self, Py_ssize_t start, Py_ssize_t room, Py_ssize_t bytes_max):
        """The records from row `start` on, as many as fit into `bytes_max` together with `room`, one at least."""
        cdef Py_ssize_t bytes, allowed = max(0, bytes_max - room)
        cdef bytearray section = bytearray()
        cdef uint8_t* base
        cdef Progress progress
        if not 0 <= start < self.rows:
            raise ValueError("the section starts at a row that is not there")
        progress.start = progress.row = start
        progress.base_timestamp = progress.max_timestamp = self._timestamp(start)
        progress.reason = progress.used = progress.full = 0
        bytes = self._bytes_max(start, self.rows)
        # Once round, unless offsets fall further on and made the rows up to there look smaller than they are.
        while progress.row == start or (progress.row < self.rows and progress.full < allowed):
            bytes = max(min(bytes, allowed), progress.used + self._bytes_max(progress.row, progress.row + 1))
            PyByteArray_Resize(section, room + bytes + SLACK)
            progress.capacity = bytes
            progress.full = min(bytes, allowed)
            base = <uint8_t*>PyByteArray_AS_STRING(section) + room
            with nogil:
                self._write(base, &progress)
            if progress.reason:
                raise EncodeError(REASONS[progress.reason], path=f"records[{progress.row}]")
            bytes *= 2
        PyByteArray_Resize(section, room + progress.used)
        return layout.Written(section, progress.row, progress.base_timestamp, progress.max_timestamp)

    cdef Py_ssize_t _bytes_max(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """The most bytes that the records from row `start` to `stop` can take, if the offsets are sound."""
        cdef Py_ssize_t first, last
        cdef Py_ssize_t bytes = (stop - start) * self.record_overhead
        bytes += bytes_between(&self.key, start, stop) + bytes_between(&self.value, start, stop)
        if self.header_offsets != NULL:
            first = self.header_offsets[self.header_first + start]
            last = self.header_offsets[self.header_first + stop]
            if 0 <= first <= last <= self.pairs:
                bytes += (last - first) * PAIR_OVERHEAD
                bytes += bytes_between(&self.header_keys, first, last)
                bytes += bytes_between(&self.header_values, first, last)
        return bytes

    cdef void _write(self, uint8_t* base, Progress* progress) noexcept nogil:
        """Writes records until the next one has no room, or has an error."""
        cdef Strings keys = self.key, values = self.value
        cdef Span key, value
        cdef uint8_t* at = base + progress.used
        cdef const uint8_t* stop
        cdef const uint8_t* full = base + progress.full
        cdef const uint8_t* end = base + progress.capacity
        cdef Py_ssize_t start = progress.start, row = progress.row
        cdef int64_t base_timestamp = progress.base_timestamp, highest = progress.max_timestamp
        cdef int64_t timestamp, size, size_all
        cdef uint64_t delta, offset_delta
        cdef bint headers = self.header_offsets != NULL
        while row < self.rows:
            timestamp = self._timestamp(row)
            delta = zigzag(<int64_t>(<uint64_t>timestamp - <uint64_t>base_timestamp))
            offset_delta = <uint64_t>(row - start) << 1
            key = span_of(&keys, row)
            value = span_of(&values, row)
            size = 1 + size_of(delta) + size_of(offset_delta) + sized(key) + sized(value)
            if key.length == ROW or value.length == ROW:
                progress.reason = ROW
                break
            size += self._headers_size(row, &progress.reason) if headers else 1
            if size > INT32_MAX:
                progress.reason = TOO_LARGE
            size_all = size + size_of(<uint64_t>size << 1)
            if progress.reason or (size_all > full - at and row > start):
                break
            if size_all > end - at:
                progress.reason = ROW
                break
            stop = at + size_all
            at = put(at, <uint64_t>size << 1)
            at[0] = 0
            at = put(at + 1, delta)
            at = put(at, offset_delta)
            at = put_bytes(at, key, keys.end)
            at = put_bytes(at, value, values.end)
            if headers:
                at = self._put_headers(at, stop, row)
                if at != stop:
                    progress.reason = ROW
                    break
            else:
                at[0] = 0
                at += 1
            highest = max(highest, timestamp)
            row += 1
        progress.row = row
        progress.max_timestamp = highest
        progress.used = at - base

    cdef int64_t _headers_size(self, Py_ssize_t row, int64_t* reason) noexcept nogil:
        cdef Py_ssize_t element = self.header_first + row, pair
        cdef Py_ssize_t first = self.header_offsets[element], last = self.header_offsets[element + 1]
        cdef int64_t size = size_of(<uint64_t>(last - first) << 1)
        cdef bint absent = is_null(self.header_validity, element)
        cdef Span key, value
        if not 0 <= first <= last <= self.pairs:
            reason[0] = ROW
            return 1
        for pair in range(first, last):
            key = span_of(&self.header_keys, pair)
            value = span_of(&self.header_values, pair)
            if key.length < 0 or value.length == ROW:
                if key.length == ROW or value.length == ROW:
                    reason[0] = ROW
                    return 1
                if not absent:
                    reason[0] = NULL_HEADER_KEY
                    return 1
            size += sized(key) + sized(value)
        return 1 if absent else size

    cdef uint8_t* _put_headers(self, uint8_t* at, const uint8_t* stop, Py_ssize_t row) noexcept nogil:
        """Writes the headers that `_headers_size` measured; NULL if they no longer fit before `stop`."""
        cdef Py_ssize_t element = self.header_first + row, pair
        cdef Py_ssize_t first = self.header_offsets[element], last = self.header_offsets[element + 1]
        cdef Span key, value
        if is_null(self.header_validity, element):
            at[0] = 0
            return at + 1
        if not 0 <= first <= last <= self.pairs or size_of(<uint64_t>(last - first) << 1) > stop - at:
            return NULL
        at = put(at, <uint64_t>(last - first) << 1)
        for pair in range(first, last):
            key = span_of(&self.header_keys, pair)
            value = span_of(&self.header_values, pair)
            # What the two lengths take is not counted, for speed: 20 bytes at most, which the slack has room for.
            if key.length + value.length > stop - at:
                return NULL
            at = put_bytes(at, key, self.header_keys.end)
            at = put_bytes(at, value, self.header_values.end)
        return at
