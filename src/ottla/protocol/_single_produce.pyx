"""See `single_produce`: the compiled twin. Every read is checked against the end of the frame."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.memoryview cimport PyMemoryView_FromObject, PyMemoryView_GET_BUFFER
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from ottla.protocol.records._memory cimport is_contiguous
from ottla.protocol.records._varint cimport load_int16, load_int32, store_int16, store_int32, store_int64

from ottla.protocol import single_produce_plain

cdef enum:
    VERSION_MIN = 3
    VERSION_MAX = 13
    FLEXIBLE_SINCE = 9
    TOPIC_IDS_SINCE = 13

cdef struct Found:
    int16_t acks
    int32_t timeout_ms
    int32_t index
    const uint8_t* topic
    Py_ssize_t topic_size
    const uint8_t* records
    Py_ssize_t records_size


cdef inline const uint8_t* read_uvarint(const uint8_t* at, const uint8_t* end, uint32_t* out) noexcept:
    cdef uint32_t value = 0
    cdef int shift = 0
    cdef uint8_t byte
    while at < end and shift <= 21:
        byte = at[0]
        at += 1
        value |= <uint32_t>(byte & 0x7F) << shift
        if byte < 0x80:
            out[0] = value
            return at
        shift += 7
    return NULL


cdef bint fixed(const uint8_t* at, const uint8_t* end, Found* found) noexcept:
    cdef int16_t name_size
    cdef int32_t size
    if end - at < 14 or load_int16(at) != -1 or load_int32(at + 8) != 1:
        return False
    found.acks = load_int16(at + 2)
    found.timeout_ms = load_int32(at + 4)
    name_size = load_int16(at + 12)
    at += 14
    if name_size < 0 or end - at < name_size + 12:
        return False
    found.topic, found.topic_size = at, name_size
    at += name_size
    size = load_int32(at + 8)
    if load_int32(at) != 1 or size < 0 or size > end - at - 12:
        return False
    found.index = load_int32(at + 4)
    found.records, found.records_size = at + 12, size
    return True


cdef bint flexible(const uint8_t* at, const uint8_t* end, int16_t version, Found* found) noexcept:
    cdef uint32_t size
    if end - at < 8 or at[0] != 0 or at[1] != 0:
        return False
    found.acks = load_int16(at + 2)
    found.timeout_ms = load_int32(at + 4)
    at = read_uvarint(at + 8, end, &size)
    if at == NULL or size != 2:
        return False
    if version >= TOPIC_IDS_SINCE:
        size = 17
    else:
        at = read_uvarint(at, end, &size)
        if at == NULL or size < 1:
            return False
    if end - at < <Py_ssize_t>size - 1:
        return False
    found.topic, found.topic_size = at, size - 1
    at = read_uvarint(at + size - 1, end, &size)
    if at == NULL or size != 2 or end - at < 4:
        return False
    found.index = load_int32(at)
    at = read_uvarint(at + 4, end, &size)
    if at == NULL or size < 1 or end - at < <Py_ssize_t>size + 2:
        return False
    found.records, found.records_size = at, size - 1
    at += size - 1
    return at[0] == 0 and at[1] == 0 and at[2] == 0


def parse(frame):
    """See `single_produce_plain.parse`."""
    cdef object memory = PyMemoryView_FromObject(frame)
    if not is_contiguous(memory):
        return single_produce_plain.parse(frame)
    cdef Py_buffer* view = PyMemoryView_GET_BUFFER(memory)
    cdef const uint8_t* start = <const uint8_t*>view.buf
    cdef const uint8_t* at = start + 10
    cdef const uint8_t* end = start + view.len
    cdef int16_t version, size
    cdef Found found
    cdef object client_id = None
    if view.len < 10 or load_int16(start) != 0:
        return None
    version = load_int16(start + 2)
    size = load_int16(start + 8)
    if not VERSION_MIN <= version <= VERSION_MAX or size < -1 or end - at < size:
        return None
    if size >= 0:
        client_id = PyBytes_FromStringAndSize(<char*>at, size)
        at += size
    if not (flexible(at, end, version, &found) if version >= FLEXIBLE_SINCE else fixed(at, end, &found)):
        return None
    return (
        version,
        load_int32(start + 4),
        client_id,
        found.acks,
        found.timeout_ms,
        PyBytes_FromStringAndSize(<char*>found.topic, found.topic_size),
        found.index,
        memory[found.records - start : found.records - start + found.records_size],
    )


def encode(tuple request, int64_t base_offset, int64_t log_append_time_ms, int64_t log_start_offset):
    """See `single_produce_plain.encode`."""
    cdef int16_t version = request[0]
    cdef int32_t correlation_id = request[1]
    cdef bytes topic = request[5]
    cdef int32_t index = request[6]
    cdef Py_ssize_t name_size = PyBytes_GET_SIZE(topic)
    cdef Py_ssize_t prefix = 2 if version < FLEXIBLE_SINCE else 0
    cdef uint32_t left = <uint32_t>name_size + 1
    if FLEXIBLE_SINCE <= version < TOPIC_IDS_SINCE:
        prefix = 1 + (left >= 0x80) + (left >= 0x4000)
    cdef Py_ssize_t size
    if version >= FLEXIBLE_SINCE:
        size = 8 + 2 + prefix + name_size + 1 + 30 + 3 + 1 + 4 + 1
    else:
        size = 8 + 4 + prefix + name_size + 4 + 22 + (8 if version >= 5 else 0) + (6 if version >= 8 else 0) + 4
    cdef bytes out = PyBytes_FromStringAndSize(NULL, size)
    cdef uint8_t* at = <uint8_t*>PyBytes_AS_STRING(out)
    store_int32(at, <int32_t>size - 4)
    store_int32(at + 4, correlation_id)
    at += 8
    if version >= FLEXIBLE_SINCE:
        at[0] = 0
        at[1] = 2
        at += 2
        if version < TOPIC_IDS_SINCE:
            while left >= 0x80:
                at[0] = <uint8_t>(left & 0x7F | 0x80)
                at += 1
                left >>= 7
            at[0] = <uint8_t>left
            at += 1
    else:
        store_int32(at, 1)
        store_int16(at + 4, <int16_t>name_size)
        at += 6
    memcpy(at, PyBytes_AS_STRING(topic), name_size)
    at += name_size
    if version >= FLEXIBLE_SINCE:
        at[0] = 2
        at += 1
    else:
        store_int32(at, 1)
        at += 4
    store_int32(at, index)
    store_int16(at + 4, 0)
    store_int64(at + 6, base_offset)
    store_int64(at + 14, log_append_time_ms)
    at += 22
    if version >= 5:
        store_int64(at, log_start_offset)
        at += 8
    if version >= FLEXIBLE_SINCE:
        at[0] = 1
        at[1] = at[2] = at[3] = 0
        store_int32(at + 4, 0)
        at[8] = 0
    else:
        if version >= 8:
            store_int32(at, 0)
            store_int16(at + 4, -1)
            at += 6
        store_int32(at, 0)
    return out
