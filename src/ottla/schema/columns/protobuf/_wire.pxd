"""Inline C for Protobuf's wire: varints, tags, lengths, and what is passed over. Each returns 0, or why it can't be read."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum:
    VARINT = 0
    WIRE_FIXED64 = 1
    SIZED = 2
    GROUP = 3
    GROUP_END = 4
    WIRE_FIXED32 = 5
    # Of `layout.Code`.
    ENDS_EARLY = 1
    NUMBER_TOO_LONG = 2
    TOO_DEEP = 9
    WIRE_TYPE = 14
    DEPTH_MAX = 200


cdef inline int varint(const uint8_t** place, const uint8_t* end, uint64_t* out) noexcept nogil:
    cdef const uint8_t* at = place[0]
    cdef uint64_t raw = 0
    cdef int shift = 0
    if at < end and at[0] < 0x80:
        out[0] = at[0]
        place[0] = at + 1
        return 0
    while shift < 70:
        if at >= end:
            return ENDS_EARLY
        raw |= <uint64_t>(at[0] & 0x7F) << shift
        at += 1
        if (at - 1)[0] < 0x80:
            out[0] = raw
            place[0] = at
            return 0
        shift += 7
    return NUMBER_TOO_LONG


cdef inline int tag_of(const uint8_t** place, const uint8_t* end, uint32_t* tag) noexcept nogil:
    cdef const uint8_t* start = place[0]
    cdef uint64_t raw = 0
    cdef int reason = varint(place, end, &raw)
    if reason:
        return reason
    if raw < 8 or raw >> 32 or raw & 7 > WIRE_FIXED32:
        place[0] = start
        return WIRE_TYPE
    tag[0] = <uint32_t>raw
    return 0


cdef inline int sized(const uint8_t** place, const uint8_t* end, const uint8_t** stop) noexcept nogil:
    """Reads a length whose bytes are there, and tells where they end."""
    cdef const uint8_t* start = place[0]
    cdef uint64_t size = 0
    cdef int reason = varint(place, end, &size)
    if reason:
        return reason
    if size > <uint64_t>(end - place[0]):
        place[0] = start
        return ENDS_EARLY
    stop[0] = place[0] + size
    return 0


cdef inline int skip(const uint8_t** place, uint32_t tag, const uint8_t* end, int depth) noexcept nogil:
    cdef uint64_t raw = 0
    cdef uint32_t inner = 0
    cdef const uint8_t* stop = NULL
    cdef int reason, wire = tag & 7
    if wire == VARINT:
        return varint(place, end, &raw)
    if wire == SIZED:
        reason = sized(place, end, &stop)
        if reason == 0:
            place[0] = stop
        return reason
    if wire == WIRE_FIXED64 or wire == WIRE_FIXED32:
        if end - place[0] < (8 if wire == WIRE_FIXED64 else 4):
            return ENDS_EARLY
        place[0] += 8 if wire == WIRE_FIXED64 else 4
        return 0
    if wire == GROUP_END or depth >= DEPTH_MAX:
        return WIRE_TYPE if wire == GROUP_END else TOO_DEEP
    while True:
        reason = tag_of(place, end, &inner)
        if reason or inner == tag + 1:
            return reason
        reason = skip(place, inner, end, depth + 1)
        if reason:
            return reason
