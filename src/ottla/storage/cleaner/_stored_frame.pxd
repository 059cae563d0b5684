"""Inline C for what the cleaner reads of batches and records: header fields, and a frame up to its value."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from ottla.protocol.records._varint cimport read_varint, read_varlong

cdef enum:
    HEADER_BYTES = 61
    LOG_OVERHEAD = 12
    MAGIC_AT = 16
    CRC_AT = 17
    ATTRIBUTES_AT = 21
    LAST_DELTA_AT = 23
    BASE_TIMESTAMP_AT = 27
    PRODUCER_AT = 43
    COUNT_AT = 57


cdef struct Frame:
    int64_t timestamp_delta
    int32_t offset_delta
    int32_t key_size
    bint has_value
    const uint8_t* key
    const uint8_t* tail


cdef inline const uint8_t* parse(const uint8_t* at, const uint8_t* end, Frame* frame) noexcept nogil:
    """Reads the frame up to its value; the byte after the frame, or NULL if it is malformed."""
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
    frame.tail = at
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
    frame.has_value = size >= 0
    return end
