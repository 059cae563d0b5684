"""Inline C for single values: varints, floats, decimals, and whether bytes are UTF-8."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from ottla.protocol.records._varint cimport OTTLA_LIKELY, read_varlong_slow

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #error "needs a little-endian machine; the plain Python twins serve elsewhere"
    #endif
    """
    pass


cdef inline int read_long(const uint8_t** place, const uint8_t* end, int64_t* out) noexcept nogil:
    """A zig-zag varint; leaves the place where it is if there is none. 0, or ENDS_EARLY, or NUMBER_TOO_LONG."""
    cdef const uint8_t* at = place[0]
    cdef unsigned long long raw
    if OTTLA_LIKELY(end - at >= 2):
        raw = at[0]
        if raw < 0x80:
            out[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
            place[0] = at + 1
            return 0
        if at[1] < 0x80:
            raw = (raw & 0x7F) | (<unsigned long long>at[1] << 7)
            out[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
            place[0] = at + 2
            return 0
    at = read_varlong_slow(at, end, out)
    if at == NULL:
        return 2 if end - place[0] >= 10 else 1
    place[0] = at
    return 0


cdef inline void store_float(uint8_t* place, const uint8_t* source, bint as_double) noexcept nogil:
    cdef float value
    cdef double wide
    memcpy(&value, source, 4)
    if as_double:
        wide = value
        memcpy(place, &wide, 8)
    else:
        memcpy(place, &value, 4)


cdef inline void store_double(uint8_t* place, const uint8_t* source) noexcept nogil:
    memcpy(place, source, 8)


cdef inline void store_long_as_float(uint8_t* place, int64_t value) noexcept nogil:
    cdef float single = <float>value
    memcpy(place, &single, 4)


cdef inline bint big_decimal(
    uint8_t* place, Py_ssize_t width, const uint8_t* source, Py_ssize_t size, const uint8_t* bound
) noexcept nogil:
    """A big-endian number as a little-endian one of `width` bytes; whether its magnitude is below the bound."""
    cdef uint8_t sign = 0xFF if size > 0 and source[0] & 0x80 else 0
    cdef Py_ssize_t index
    cdef int carry = 1, byte, compared = 0
    while size > width:
        if source[0] != sign:
            return False
        source += 1
        size -= 1
    memset(place + size, sign, width - size)
    for index in range(size):
        place[index] = source[size - 1 - index]
    if (place[width - 1] ^ sign) & 0x80:
        return False
    for index in range(width):
        byte = place[index]
        if sign:
            byte = (byte ^ 0xFF) + carry
            carry = byte >> 8
            byte &= 0xFF
        if byte != bound[index]:
            compared = 1 if byte > bound[index] else -1
    return compared < 0


cdef inline bint is_utf8(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """Whether the bytes are UTF-8 as Python reads it: shortest forms, no surrogates, nothing above U+10FFFF."""
    cdef const uint8_t* end = at + size
    cdef unsigned long long word
    cdef uint8_t byte, low, high
    cdef int more, index
    while at < end:
        if end - at >= 8:
            memcpy(&word, at, 8)
            if not word & <unsigned long long>0x8080808080808080:
                at += 8
                continue
        byte = at[0]
        at += 1
        if byte < 0x80:
            continue
        low, high = 0x80, 0xBF
        if 0xC2 <= byte <= 0xDF:
            more = 1
        elif 0xE0 <= byte <= 0xEF:
            more = 2
            if byte == 0xE0:
                low = 0xA0
            elif byte == 0xED:
                high = 0x9F
        elif 0xF0 <= byte <= 0xF4:
            more = 3
            if byte == 0xF0:
                low = 0x90
            elif byte == 0xF4:
                high = 0x8F
        else:
            return False
        if end - at < more or not low <= at[0] <= high:
            return False
        for index in range(1, more):
            if at[index] & 0xC0 != 0x80:
                return False
        at += more
    return True
