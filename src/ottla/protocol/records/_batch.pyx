"""A v2 batch's header as a view on the buffer it lies in, compiled; `batch_plain` documents it.

The view has a memoryview of its own for as long as it lives, so the pointer stays good; what is malformed is left to
the plain twin to put into words.
"""

from cpython.buffer cimport PyBUF_READ
from cpython.memoryview cimport PyMemoryView_FromMemory, PyMemoryView_FromObject, PyMemoryView_GET_BUFFER
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t

from ottla.protocol.records._layout cimport (
    ATTRIBUTES_AT,
    BASE_TIMESTAMP_AT,
    CODEC_BITS,
    CONTROL,
    COUNT_AT,
    CRC_AT,
    FLAGS_AT,
    HEADER_BYTES,
    LAST_DELTA_AT,
    LENGTH_AT,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    PRODUCER_AT,
    TRANSACTIONAL,
)
from ottla.protocol.records._crc cimport crc_short, is_short
from ottla.protocol.records._frame cimport Frame, add, parse
from ottla.protocol.records._memory cimport is_contiguous
from ottla.protocol.records._varint cimport (
    load_int16,
    load_int32,
    load_int64,
    store_int16,
    store_int32,
    store_int64,
)

from ottla.protocol.checksum import crc32c

from ottla.protocol.compression import CompressionType
from ottla.protocol.records import batch_plain
from ottla.protocol.records.memory import contiguous
from ottla.protocol.records.timestamp import TimestampType

cdef object from_id = CompressionType.from_id
cdef object CREATE_TIME = TimestampType.CREATE_TIME
cdef object LOG_APPEND_TIME = TimestampType.LOG_APPEND_TIME


cdef inline Py_ssize_t whole_size(const uint8_t* at, Py_ssize_t left) noexcept:
    """Bytes of the v2 batch at `at`; 0 if there is none, or not all of it."""
    cdef int64_t size
    if left < HEADER_BYTES or at[MAGIC_AT] != 2:
        return 0
    size = <int64_t>load_int32(at + LENGTH_AT) + LOG_OVERHEAD
    return <Py_ssize_t>size if HEADER_BYTES <= size <= left else 0


cdef class Batch:
    """See `batch_plain.Batch`."""

    def __cinit__(self, buffer, Py_ssize_t position=0):
        cdef Py_buffer* view
        self.memory = PyMemoryView_FromObject(buffer)
        if not is_contiguous(self.memory):
            self.memory = contiguous(self.memory)
        view = PyMemoryView_GET_BUFFER(self.memory)
        self.position = position
        if 0 <= position <= view.len:
            self.at = <uint8_t*>view.buf + position
            self.size = whole_size(self.at, view.len - position)
        if self.size == 0:
            batch_plain.Batch(self.memory, position)

    def __repr__(self):
        return batch_plain.Batch.__repr__(self)

    @property
    def end(self):
        return self.position + self.size

    @property
    def data(self):
        return self.memory[self.position : self.position + self.size]

    @property
    def records(self):
        return self.memory[self.position + HEADER_BYTES : self.position + self.size]

    @property
    def base_offset(self):
        return load_int64(self.at)

    @property
    def partition_leader_epoch(self):
        return load_int32(self.at + LOG_OVERHEAD)

    @property
    def magic(self):
        return 2

    @property
    def crc(self):
        return <uint32_t>load_int32(self.at + CRC_AT)

    @property
    def attributes(self):
        return load_int16(self.at + ATTRIBUTES_AT)

    @property
    def codec_id(self):
        return self.at[FLAGS_AT] & CODEC_BITS

    @property
    def compression(self):
        return from_id(self.at[FLAGS_AT] & CODEC_BITS)

    @property
    def timestamp_type(self):
        return LOG_APPEND_TIME if self.at[FLAGS_AT] & 0x08 else CREATE_TIME

    @property
    def is_transactional(self):
        return self.at[FLAGS_AT] & TRANSACTIONAL != 0

    @property
    def is_control(self):
        return self.at[FLAGS_AT] & CONTROL != 0

    @property
    def delete_horizon_ms(self):
        return load_int64(self.at + BASE_TIMESTAMP_AT) if self.at[FLAGS_AT] & 0x40 else None

    @property
    def last_offset_delta(self):
        return load_int32(self.at + LAST_DELTA_AT)

    @property
    def last_offset(self):
        return self.base_offset + load_int32(self.at + LAST_DELTA_AT)

    @property
    def next_offset(self):
        return self.last_offset + 1

    @property
    def base_timestamp(self):
        return load_int64(self.at + BASE_TIMESTAMP_AT)

    @property
    def max_timestamp(self):
        return load_int64(self.at + MAX_TIMESTAMP_AT)

    @property
    def log_append_time(self):
        return load_int64(self.at + MAX_TIMESTAMP_AT) if self.at[FLAGS_AT] & 0x08 else None

    @property
    def producer_id(self):
        return load_int64(self.at + PRODUCER_AT)

    @property
    def producer_epoch(self):
        return load_int16(self.at + PRODUCER_AT + 8)

    @property
    def base_sequence(self):
        return load_int32(self.at + PRODUCER_AT + 10)

    @property
    def last_sequence(self):
        cdef int32_t first = load_int32(self.at + PRODUCER_AT + 10)
        return first if first == -1 else (<int64_t>first + load_int32(self.at + LAST_DELTA_AT)) & 0x7FFFFFFF

    @property
    def records_count(self):
        return load_int32(self.at + COUNT_AT)

    def compute_crc(self):
        return self.checksum()

    cdef uint32_t checksum(self) except? 0:
        cdef Py_ssize_t size = self.size - ATTRIBUTES_AT
        if is_short(size):
            return crc_short(self.at + ATTRIBUTES_AT, <size_t>size)
        # The view lives no longer than this call, and the buffer lives as long as we do.
        return crc32c(PyMemoryView_FromMemory(<char*>self.at + ATTRIBUTES_AT, size, PyBUF_READ))

    def crc_matches(self):
        return self.is_intact()

    cdef bint is_intact(self) except -1:
        return self.checksum() == <uint32_t>load_int32(self.at + CRC_AT)

    def is_in_order(self, Py_ssize_t size_max, int64_t earliest, int64_t latest, *, bint needs_keys):
        return self.in_order(size_max, earliest, latest, needs_keys)

    cdef bint in_order(self, Py_ssize_t size_max, int64_t earliest, int64_t latest, bint needs_keys) except -1:
        cdef int32_t count = load_int32(self.at + COUNT_AT)
        cdef int32_t last_delta = load_int32(self.at + LAST_DELTA_AT)
        if (
            self.size > size_max or load_int64(self.at) != 0 or load_int16(self.at + ATTRIBUTES_AT) & ~0x10
            or count <= 0 or last_delta != count - 1
            or (load_int64(self.at + PRODUCER_AT) >= 0 and load_int32(self.at + PRODUCER_AT + 10) < 0)
            or not self.is_intact()
        ):
            return False
        return self.records_in_order(count, needs_keys, earliest, latest)

    cdef bint records_in_order(self, int32_t count, bint needs_keys, int64_t earliest, int64_t latest) noexcept nogil:
        cdef const uint8_t* at = self.at + HEADER_BYTES
        cdef const uint8_t* end = self.at + self.size
        cdef int64_t base_timestamp = load_int64(self.at + BASE_TIMESTAMP_AT)
        cdef int64_t timestamp, highest = -1
        cdef int32_t index = 0
        cdef Frame frame
        while index < count:
            at = parse(at, end, &frame)
            if at == NULL or frame.offset_delta != index or (needs_keys and frame.key_size < 0):
                return False
            timestamp = add(base_timestamp, frame.timestamp_delta)
            if not earliest <= timestamp <= latest or timestamp < 0:
                return False
            if timestamp > highest:
                highest = timestamp
            index += 1
        return at == end and highest == load_int64(self.at + MAX_TIMESTAMP_AT)

    def assign(self, int64_t base_offset, int32_t partition_leader_epoch):
        self.take_place(base_offset, partition_leader_epoch)

    cdef int take_place(self, int64_t base_offset, int32_t partition_leader_epoch) except -1:
        self.need_writable()
        store_int64(self.at, base_offset)
        store_int32(self.at + LOG_OVERHEAD, partition_leader_epoch)
        return 0

    cdef bint is_all(self) noexcept:
        """Whether there is nothing else in its buffer."""
        return self.size == PyMemoryView_GET_BUFFER(self.memory).len

    cdef bint is_special(self) noexcept:
        """Whether it is compressed, of a transaction, or anything else but plain records."""
        return load_int16(self.at + ATTRIBUTES_AT) != 0

    cdef bint has_producer(self) noexcept:
        return load_int64(self.at + PRODUCER_AT) >= 0

    cdef int32_t last_delta(self) noexcept:
        return load_int32(self.at + LAST_DELTA_AT)

    cdef int64_t latest_timestamp(self) noexcept:
        return load_int64(self.at + MAX_TIMESTAMP_AT)

    def set_max_timestamp(self, int timestamp_type, int64_t max_timestamp):
        cdef int16_t attributes = load_int16(self.at + ATTRIBUTES_AT)
        cdef int16_t changed = (attributes & ~0x08) | (timestamp_type << 3)
        if changed == attributes and load_int64(self.at + MAX_TIMESTAMP_AT) == max_timestamp:
            return
        self.need_writable()
        store_int16(self.at + ATTRIBUTES_AT, changed)
        store_int64(self.at + MAX_TIMESTAMP_AT, max_timestamp)
        self.seal()

    def set_producer(self, int64_t producer_id, int16_t producer_epoch, int32_t base_sequence):
        self.need_writable()
        store_int64(self.at + PRODUCER_AT, producer_id)
        store_int16(self.at + PRODUCER_AT + 8, producer_epoch)
        store_int32(self.at + PRODUCER_AT + 10, base_sequence)
        self.seal()

    cdef seal(self):
        store_int32(self.at + CRC_AT, <int32_t>self.checksum())

    cdef need_writable(self):
        if PyMemoryView_GET_BUFFER(self.memory).readonly:
            raise TypeError("the batch lies in memory that cannot be written")


cdef class Batches:
    """See `batch_plain.Batches`."""

    cdef object memory
    cdef readonly Py_ssize_t position

    def __init__(self, buffer, Py_ssize_t position=0):
        self.memory = PyMemoryView_FromObject(buffer)
        if not is_contiguous(self.memory):
            self.memory = contiguous(self.memory)
        self.position = position

    def __iter__(self):
        return self

    def __next__(self):
        cdef Batch batch
        cdef Py_buffer* view = PyMemoryView_GET_BUFFER(self.memory)
        cdef Py_ssize_t size = 0
        if 0 <= self.position <= view.len:
            size = whole_size(<const uint8_t*>view.buf + self.position, view.len - self.position)
        if size == 0 and batch_plain.frame_at(self.memory, self.position) is None:
            raise StopIteration
        batch = Batch(self.memory, self.position)
        self.position = batch.end
        return batch
