"""Inline C that reads one record frame, with every read checked against the end of the frame."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from ottla.protocol.records._varint cimport read_varint, read_varlong


cdef struct Frame:
    int64_t timestamp_delta
    int32_t offset_delta
    int32_t key_size
    int32_t value_size
    int32_t header_count
    const uint8_t* key
    const uint8_t* value
    const uint8_t* headers


cdef inline const uint8_t* skip_headers(const uint8_t* at, const uint8_t* end, int32_t count) noexcept nogil:
    cdef int32_t size
    while count > 0:
        at = read_varint(at, end, &size)
        if at == NULL or size < 0 or size > end - at:
            return NULL
        at += size
        at = read_varint(at, end, &size)
        if at == NULL or size > end - at:
            return NULL
        if size > 0:
            at += size
        count -= 1
    return at


cdef inline const uint8_t* parse(const uint8_t* at, const uint8_t* end, Frame* frame) noexcept nogil:
    """Reads the frame at `at`; the byte after it, or NULL if it is malformed."""
    cdef int32_t size
    at = read_varint(at, end, &size)
    if at == NULL or size < 1 or size > end - at:
        return NULL
    end = at + size
    at = read_varlong(at + 1, end, &frame.timestamp_delta)
    if at == NULL:
        return NULL
    at = read_varint(at, end, &frame.offset_delta)
    if at == NULL:
        return NULL
    at = read_varint(at, end, &size)
    if at == NULL or size > end - at:
        return NULL
    frame.key_size = size
    frame.key = at
    if size > 0:
        at += size
    at = read_varint(at, end, &size)
    if at == NULL or size > end - at:
        return NULL
    frame.value_size = size
    frame.value = at
    if size > 0:
        at += size
    at = read_varint(at, end, &size)
    if at == NULL or size < 0 or size > end - at:
        return NULL
    frame.header_count = size
    frame.headers = at
    if size > 0:
        at = skip_headers(at, end, size)
    return at if at == end else NULL


cdef inline int64_t add(int64_t base, int64_t delta) noexcept nogil:
    """Wraps as Java's longs do."""
    return <int64_t>(<uint64_t>base + <uint64_t>delta)
