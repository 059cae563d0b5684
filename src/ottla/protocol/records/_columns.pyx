"""The compiled loop from record sections to Arrow buffers; `columns_plain` is the twin to read first.

Every number is checked against the end of its record before it is followed, and every record against the end of its
section. Buffers are reserved once per section, for as many bytes as the section has, and trimmed at the end: a
reservation costs no memory until it is written to. No loop holds the GIL.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cython cimport final
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove, memset

from ottla.protocol.records._columns_copy cimport COPY_STEP, copy_bytes
from ottla.protocol.records._varint cimport OTTLA_LIKELY, read_varint, read_varlong

from ottla.protocol.errors.malformed import DecodeError
from ottla.protocol.records import columns_layout as layout
from ottla.protocol.records import frames

cdef enum:
    SPARES_MAX = 16
    SPARE_BYTES_MIN = 32 * 1024
    SPARE_BYTES_MAX = 32 * 1024 * 1024  # of all of them together
    # Why a loop stops early.
    MALFORMED = 1
    COLUMN_FULL = 2
    NO_MEMORY = 3
    WANT_KEY = 1
    WANT_VALUE = 2
    WANT_HEADERS = 4
    WANT_OFFSET = 8
    WANT_TIMESTAMP = 16
    WANT_TIMESTAMP_TYPE = 32
    RECORD_BYTES_MIN = 7


cdef struct Block:
    uint8_t* data
    Py_ssize_t capacity


# Blocks that were used before and wait for the next column, oldest first. Fresh memory costs a page fault for every
# 4 KiB, which is several times what filling them costs, and malloc gives large blocks back to the system as soon as
# they are free. Only touched with the GIL held.
cdef Block spares[SPARES_MAX]
cdef int spare_count = 0
cdef Py_ssize_t spare_bytes = 0


cdef Block _take_spare(int index) noexcept:
    global spare_bytes, spare_count
    cdef Block block = spares[index]
    spare_count -= 1
    spare_bytes -= block.capacity
    memmove(&spares[index], &spares[index + 1], (spare_count - index) * sizeof(Block))
    return block


cdef void _spare(Block block) noexcept:
    """Keeps the block for later, in place of the oldest if need be, or frees it."""
    global spare_bytes, spare_count
    if not SPARE_BYTES_MIN <= block.capacity <= SPARE_BYTES_MAX:
        free(block.data)
        return
    while spare_count == SPARES_MAX or spare_bytes + block.capacity > SPARE_BYTES_MAX:
        free(_take_spare(0).data)
    spares[spare_count] = block
    spare_count += 1
    spare_bytes += block.capacity


@final
cdef class Memory:
    """Bytes on the C heap that grow while a column is read, and are then lent out by the buffer protocol."""

    cdef uint8_t* data
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity

    def __dealloc__(self):
        _spare(Block(self.data, self.capacity))

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.size, 1, flags)

    cdef void reuse(self, Py_ssize_t capacity) noexcept:
        """Takes a spare block of at least that size, if there is one that is not far too large."""
        cdef int index
        cdef Block block
        if self.capacity > 0 or capacity < SPARE_BYTES_MIN:
            return
        for index in range(spare_count - 1, -1, -1):
            if capacity <= spares[index].capacity <= 2 * capacity:
                block = _take_spare(index)
                self.data = block.data
                self.capacity = block.capacity
                return

    cdef int reserve(self, Py_ssize_t capacity) noexcept nogil:
        """Room for that many bytes at least; by half as much again when growing, so that growing stays linear."""
        cdef void* moved
        if capacity <= self.capacity:
            return 0
        if self.capacity > 0:
            capacity = max(capacity, self.capacity + self.capacity // 2)
        moved = realloc(self.data, capacity)
        if moved == NULL:
            return NO_MEMORY
        self.data = <uint8_t*>moved
        self.capacity = capacity
        return 0

    cdef Memory trimmed(self, Py_ssize_t size):
        """The first `size` bytes, without holding on to much more than that."""
        cdef Memory small
        # Readers of buffers do not expect NULL, not even for no bytes.
        if self.reserve(1):
            raise MemoryError
        self.size = size
        if size > self.capacity // 2 or self.capacity < SPARE_BYTES_MIN:
            return self
        small = Memory()
        small.reuse(size)
        if small.reserve(max(size, 1)):
            raise MemoryError
        memcpy(small.data, self.data, size)
        small.size = size
        return small


cdef int _room(Memory memory, Py_ssize_t capacity) noexcept:
    memory.reuse(capacity)
    return memory.reserve(capacity)


cdef struct Sink:
    # A binary column while a loop fills it: a loop keeps a copy, so that its fields can live in registers.
    uint8_t* data
    int32_t* offsets
    uint8_t* validity
    Py_ssize_t rows
    Py_ssize_t nulls
    int64_t bytes
    int64_t limit


cdef inline int push(
    Sink* sink, Py_ssize_t row, const uint8_t* source, int32_t length, const uint8_t* source_end
) noexcept nogil:
    """The next row: `length` bytes from `source`, or null where it is negative."""
    if length < 0:
        sink.validity[row >> 3] &= ~(<uint8_t>1 << (row & 7))
        sink.nulls += 1
    else:
        if sink.bytes + length > sink.limit:
            return COLUMN_FULL
        copy_bytes(sink.data + sink.bytes, source, length, source_end)
        sink.bytes += length
    sink.offsets[row + 1] = <int32_t>sink.bytes
    return 0


cdef inline int read_bytes(
    Sink* sink, bint kept, Py_ssize_t row, const uint8_t** place, const uint8_t* stop, const uint8_t* end
) noexcept nogil:
    """Reads a length and that many bytes, into the column if they are to be kept; negative is null, as in Kafka."""
    cdef int32_t length = 0
    cdef const uint8_t* at = read_varint(place[0], stop, &length)
    cdef int reason
    if at == NULL:
        return MALFORMED
    place[0] = at
    if length > stop - at:
        return MALFORMED
    if kept:
        reason = push(sink, row, at, length, end)
        if reason:
            return reason
    if length > 0:
        place[0] = at + length
    return 0


@final
cdef class Column:
    """A binary column and its memory."""

    cdef Memory offsets
    cdef Memory data
    cdef Memory validity
    cdef Sink sink

    def __cinit__(self, int64_t limit):
        self.offsets = Memory()
        self.data = Memory()
        self.validity = Memory()
        self.sink.limit = limit

    cdef int reserve(self, Py_ssize_t rows, Py_ssize_t bytes) noexcept nogil:
        """Room for that many more rows and bytes."""
        cdef Py_ssize_t valid = self.validity.size
        rows += self.sink.rows
        if self.offsets.reserve((rows + 1) * 4) or self.data.reserve(self.sink.bytes + bytes + COPY_STEP):
            return NO_MEMORY
        if self.validity.reserve(rows // 8 + 1):
            return NO_MEMORY
        if valid < self.validity.capacity:
            memset(self.validity.data + valid, 0xFF, self.validity.capacity - valid)
            self.validity.size = self.validity.capacity
        self.sink.data = self.data.data
        self.sink.offsets = <int32_t*>self.offsets.data
        self.sink.validity = self.validity.data
        self.sink.offsets[self.sink.rows] = <int32_t>self.sink.bytes
        return 0

    cdef int reuse(self, Py_ssize_t rows, Py_ssize_t bytes) noexcept:
        """Like `reserve`, from spare blocks if there are any."""
        self.offsets.reuse((self.sink.rows + rows + 1) * 4)
        self.data.reuse(self.sink.bytes + bytes + COPY_STEP)
        return self.reserve(rows, bytes)

    cdef object finished(self):
        """The column's buffers, as `BinaryColumn`."""
        cdef Py_ssize_t rows = self.sink.rows, nulls = self.sink.nulls
        if self.reserve(0, 0):
            raise MemoryError
        return layout.BinaryColumn(
            rows,
            nulls,
            self.validity.trimmed((rows + 7) // 8) if nulls else None,
            self.offsets.trimmed((rows + 1) * 4),
            self.data.trimmed(self.sink.bytes),
        )


cdef inline const uint8_t* read_delta(const uint8_t* at, const uint8_t* end, int64_t* out) noexcept nogil:
    """A varlong; the deltas of a batch that took seconds to fill have two bytes."""
    cdef uint64_t raw
    if OTTLA_LIKELY(end - at >= 2):
        raw = at[0]
        if raw < 0x80:
            out[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
            return at + 1
        if at[1] < 0x80:
            raw = (raw & 0x7F) | (<uint64_t>at[1] << 7)
            out[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
            return at + 2
    return read_varlong(at, end, out)


cdef struct Frame:
    Py_ssize_t count
    int64_t base_offset
    int64_t base_timestamp
    int64_t timestamp_mask
    Py_ssize_t done
    const uint8_t* at


@final
cdef class ColumnReader:
    """Fills the wanted columns with the records of one section after another; drops those before `start_offset`."""

    cdef int wanted
    cdef int64_t start_offset
    cdef Py_ssize_t bytes_expected
    cdef Py_ssize_t rows
    cdef Column key
    cdef Column value
    cdef Column header_keys
    cdef Column header_values
    cdef Memory header_offsets
    cdef Memory offset
    cdef Memory timestamp
    cdef Memory timestamp_type

    def __cinit__(
        self,
        int wanted,
        int64_t start_offset=layout.NO_START,
        Py_ssize_t bytes_expected=0,
        int64_t limit=layout.COLUMN_BYTES_MAX,
    ):
        self.wanted = wanted
        self.start_offset = start_offset
        self.bytes_expected = bytes_expected
        self.key = Column(limit)
        self.value = Column(limit)
        self.header_keys = Column(limit)
        self.header_values = Column(limit)
        self.header_offsets = Memory()
        self.offset = Memory()
        self.timestamp = Memory()
        self.timestamp_type = Memory()

    def append(self, data, int64_t count, int64_t base_offset, int64_t base_timestamp, log_append_time):
        """Reads the records of a section; arguments as for `frames.decode`."""
        cdef Py_buffer view
        cdef Frame frame
        cdef int reason
        frame.count = count
        frame.done = 0
        frame.base_offset = base_offset
        frame.base_timestamp = base_timestamp if log_append_time is None else log_append_time
        frame.timestamp_mask = -1 if log_append_time is None else 0
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            frame.at = <const uint8_t*>view.buf
            # A count that the bytes cannot hold gets no memory.
            reason = MALFORMED if count < 0 or count > view.len // RECORD_BYTES_MIN else self._read_all(&frame, view.len)
        finally:
            PyBuffer_Release(&view)
        if reason == NO_MEMORY:
            raise MemoryError
        if reason:
            frames.scan(data, count, base_timestamp)
            raise DecodeError(layout.COLUMN_FULL, path=f"records[{frame.done}]")

    cdef int _read_all(self, Frame* frame, Py_ssize_t bytes) noexcept:
        cdef const uint8_t* end = frame.at + bytes
        cdef int reason
        if self._reserve(frame.count, bytes):
            return NO_MEMORY
        with nogil:
            reason = self._read(frame, end)
        return reason or (MALFORMED if frame.at != end else 0)

    cdef int _reserve(self, Py_ssize_t count, Py_ssize_t bytes) noexcept:
        """Room for a section; with the first one, for as many like it as are expected."""
        cdef Py_ssize_t rows
        cdef int failed = 0
        if count == 0:
            return 0
        if self.bytes_expected > bytes:
            count = <Py_ssize_t>(<double>self.bytes_expected / <double>bytes * <double>count) + 1
            bytes = self.bytes_expected
        self.bytes_expected = 0
        rows = self.rows + count
        if self.wanted & WANT_KEY:
            failed |= self.key.reuse(count, bytes)
        if self.wanted & WANT_VALUE:
            failed |= self.value.reuse(count, bytes)
        if self.wanted & WANT_HEADERS:
            failed |= _room(self.header_offsets, (rows + 1) * 4)
        if self.wanted & WANT_OFFSET:
            failed |= _room(self.offset, rows * 8)
        if self.wanted & WANT_TIMESTAMP:
            failed |= _room(self.timestamp, rows * 8)
        if self.wanted & WANT_TIMESTAMP_TYPE:
            failed |= _room(self.timestamp_type, rows * 4)
        return failed

    cdef int _read(self, Frame* frame, const uint8_t* end) noexcept nogil:
        """Reads all records; leaves in the frame how many were read, and where reading ended."""
        cdef int64_t* offsets = <int64_t*>self.offset.data if self.wanted & WANT_OFFSET else NULL
        cdef int64_t* timestamps = <int64_t*>self.timestamp.data if self.wanted & WANT_TIMESTAMP else NULL
        cdef int32_t* header_offsets = <int32_t*>self.header_offsets.data
        cdef Sink key = self.key.sink, value = self.value.sink
        cdef const uint8_t* at = frame.at
        cdef const uint8_t* stop
        cdef int64_t offset, timestamp = 0
        cdef int32_t length = 0, offset_delta = 0
        cdef Py_ssize_t done = 0, row = self.rows
        cdef int reason = 0, wanted
        # Copies of all that the loop needs: the compiler cannot know that no byte written to a column changes it.
        cdef int all_wanted = self.wanted
        cdef int64_t start_offset = self.start_offset
        cdef uint64_t base_offset = frame.base_offset, base_timestamp = frame.base_timestamp
        cdef int64_t timestamp_mask = frame.timestamp_mask
        cdef Py_ssize_t count = frame.count
        while done < count:
            reason = MALFORMED
            at = read_varint(at, end, &length)
            if at == NULL or length < 1 or length > end - at:
                break
            stop = at + length
            # The attributes come first, and nothing uses them.
            at = read_delta(at + 1, stop, &timestamp)
            if at == NULL:
                break
            at = read_varint(at, stop, &offset_delta)
            if at == NULL:
                break
            offset = <int64_t>(base_offset + <uint64_t>offset_delta)
            wanted = all_wanted if offset >= start_offset else 0
            reason = read_bytes(&key, wanted & WANT_KEY, row, &at, stop, end)
            if reason:
                break
            reason = read_bytes(&value, wanted & WANT_VALUE, row, &at, stop, end)
            if reason:
                break
            if wanted & WANT_HEADERS:
                header_offsets[row] = <int32_t>self.header_keys.sink.rows
            if OTTLA_LIKELY(stop - at == 1 and at[0] == 0):
                at = stop
            else:
                reason = self._read_headers(wanted & WANT_HEADERS, &at, stop)
                if reason:
                    break
            done += 1
            if wanted:
                if offsets != NULL:
                    offsets[row] = offset
                if timestamps != NULL:
                    timestamps[row] = <int64_t>(base_timestamp + <uint64_t>(timestamp & timestamp_mask))
                row += 1
        key.rows = value.rows = row
        self.key.sink = key
        self.value.sink = value
        frame.at = at
        frame.done = done
        if self.wanted & WANT_TIMESTAMP_TYPE:
            self._fill_timestamp_type(row, 0 if frame.timestamp_mask else 1)
        self.rows = row
        return reason

    cdef int _read_headers(self, bint kept, const uint8_t** place, const uint8_t* stop) noexcept nogil:
        """Reads a record's headers, which end the record."""
        cdef int32_t count = 0, length = 0
        cdef const uint8_t* at = read_varint(place[0], stop, &count)
        cdef Py_ssize_t row = self.header_keys.sink.rows
        cdef int reason
        if at == NULL:
            return MALFORMED
        place[0] = at
        # A header has two lengths at least.
        if count < 0 or count > (stop - at) // 2:
            return MALFORMED
        if kept:
            if self.header_keys.sink.rows + count > self.header_keys.sink.limit:
                return COLUMN_FULL
            if self.header_keys.reserve(count, stop - at) or self.header_values.reserve(count, stop - at):
                return NO_MEMORY
        while count > 0:
            if read_varint(place[0], stop, &length) != NULL and length < 0:
                return MALFORMED
            reason = read_bytes(&self.header_keys.sink, kept, row, place, stop, stop)
            if reason:
                return reason
            reason = read_bytes(&self.header_values.sink, kept, row, place, stop, stop)
            if reason:
                return reason
            row += 1
            count -= 1
        if kept:
            self.header_keys.sink.rows = self.header_values.sink.rows = row
        return 0 if place[0] == stop else MALFORMED

    cdef void _fill_timestamp_type(self, Py_ssize_t rows, int32_t kind) noexcept nogil:
        cdef int32_t* types = <int32_t*>self.timestamp_type.data
        cdef Py_ssize_t row
        for row in range(self.rows, rows):
            types[row] = kind

    def finish(self):
        """Hands out the columns; the reader is used up."""
        cdef Py_ssize_t rows = self.rows
        headers = None
        if self.wanted & WANT_HEADERS:
            if self.header_offsets.reserve((rows + 1) * 4):
                raise MemoryError
            (<int32_t*>self.header_offsets.data)[rows] = <int32_t>self.header_keys.sink.rows
            headers = layout.HeaderColumn(
                self.header_offsets.trimmed((rows + 1) * 4), self.header_keys.finished(), self.header_values.finished()
            )
        return layout.Columns(
            rows,
            self.key.finished() if self.wanted & WANT_KEY else None,
            self.value.finished() if self.wanted & WANT_VALUE else None,
            headers,
            self.offset.trimmed(rows * 8) if self.wanted & WANT_OFFSET else None,
            self.timestamp.trimmed(rows * 8) if self.wanted & WANT_TIMESTAMP else None,
            self.timestamp_type.trimmed(rows * 4) if self.wanted & WANT_TIMESTAMP_TYPE else None,
        )
