"""Inline C for the numbers in record frames: zig-zag varints and big-endian fields.

Readers take the next byte and the end of the readable bytes, and return the byte after the number, or NULL if the
bytes end inside it or it has too many bytes (5 for a varint, 10 for a varlong). Like Apache Kafka they accept
overlong forms and drop the bits that do not fit. Writers return the byte after what they wrote and check nothing:
the caller has sized its buffer with `varint_size` and `varlong_size`.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define OTTLA_SWAP16(x) __builtin_bswap16(x)
    #define OTTLA_SWAP32(x) __builtin_bswap32(x)
    #define OTTLA_SWAP64(x) __builtin_bswap64(x)
    #define OTTLA_BITS64(x) (64 - __builtin_clzll((x) | 1))
    #define OTTLA_LIKELY(x) __builtin_expect(!!(x), 1)
    #if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #undef OTTLA_SWAP16
    #undef OTTLA_SWAP32
    #undef OTTLA_SWAP64
    #define OTTLA_SWAP16(x) (x)
    #define OTTLA_SWAP32(x) (x)
    #define OTTLA_SWAP64(x) (x)
    #endif
    #else
    #error "needs GCC or Clang; the plain Python twins serve elsewhere"
    #endif
    """
    uint16_t OTTLA_SWAP16(uint16_t) noexcept nogil
    uint32_t OTTLA_SWAP32(uint32_t) noexcept nogil
    uint64_t OTTLA_SWAP64(uint64_t) noexcept nogil
    int OTTLA_BITS64(uint64_t) noexcept nogil
    bint OTTLA_LIKELY(bint) noexcept nogil


cdef inline const uint8_t* read_varint_slow(const uint8_t* at, const uint8_t* end, int32_t* out) noexcept nogil:
    cdef uint32_t raw = 0
    cdef int shift = 0
    cdef uint8_t byte
    while at < end and shift <= 28:
        byte = at[0]
        at += 1
        raw |= <uint32_t>(byte & 0x7F) << shift
        if byte < 0x80:
            out[0] = <int32_t>((raw >> 1) ^ (0 - (raw & 1)))
            return at
        shift += 7
    return NULL


cdef inline const uint8_t* read_varint(const uint8_t* at, const uint8_t* end, int32_t* out) noexcept nogil:
    """A zig-zag int32; one or two bytes inline, the rest out of the way."""
    cdef uint32_t raw
    if OTTLA_LIKELY(end - at >= 2):
        raw = at[0]
        if raw < 0x80:
            out[0] = <int32_t>((raw >> 1) ^ (0 - (raw & 1)))
            return at + 1
        if at[1] < 0x80:
            raw = (raw & 0x7F) | (<uint32_t>at[1] << 7)
            out[0] = <int32_t>((raw >> 1) ^ (0 - (raw & 1)))
            return at + 2
    return read_varint_slow(at, end, out)


cdef inline const uint8_t* read_varlong_slow(const uint8_t* at, const uint8_t* end, int64_t* out) noexcept nogil:
    cdef uint64_t raw = 0
    cdef int shift = 0
    cdef uint8_t byte
    while at < end and shift <= 63:
        byte = at[0]
        at += 1
        raw |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            out[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
            return at
        shift += 7
    return NULL


cdef inline const uint8_t* read_varlong(const uint8_t* at, const uint8_t* end, int64_t* out) noexcept nogil:
    """A zig-zag int64; one byte inline, the rest out of the way."""
    cdef uint64_t raw
    if OTTLA_LIKELY(at < end) and at[0] < 0x80:
        raw = at[0]
        out[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
        return at + 1
    return read_varlong_slow(at, end, out)


cdef inline int uvarint_size(uint64_t raw) noexcept nogil:
    return (OTTLA_BITS64(raw) + 6) // 7


cdef inline int varint_size(int32_t value) noexcept nogil:
    """Bytes that `write_varint` takes for the value: 1 to 5."""
    return uvarint_size((<uint32_t>value << 1) ^ <uint32_t>(value >> 31))


cdef inline int varlong_size(int64_t value) noexcept nogil:
    """Bytes that `write_varlong` takes for the value: 1 to 10."""
    return uvarint_size((<uint64_t>value << 1) ^ <uint64_t>(value >> 63))


cdef inline uint8_t* write_uvarint(uint8_t* at, uint64_t raw) noexcept nogil:
    while raw >= 0x80:
        at[0] = <uint8_t>(raw | 0x80)
        at += 1
        raw >>= 7
    at[0] = <uint8_t>raw
    return at + 1


cdef inline uint8_t* write_varint(uint8_t* at, int32_t value) noexcept nogil:
    return write_uvarint(at, (<uint32_t>value << 1) ^ <uint32_t>(value >> 31))


cdef inline uint8_t* write_varlong(uint8_t* at, int64_t value) noexcept nogil:
    return write_uvarint(at, (<uint64_t>value << 1) ^ <uint64_t>(value >> 63))


cdef inline int16_t load_int16(const uint8_t* at) noexcept nogil:
    cdef uint16_t raw
    memcpy(&raw, at, 2)
    return <int16_t>OTTLA_SWAP16(raw)


cdef inline int32_t load_int32(const uint8_t* at) noexcept nogil:
    cdef uint32_t raw
    memcpy(&raw, at, 4)
    return <int32_t>OTTLA_SWAP32(raw)


cdef inline int64_t load_int64(const uint8_t* at) noexcept nogil:
    cdef uint64_t raw
    memcpy(&raw, at, 8)
    return <int64_t>OTTLA_SWAP64(raw)


cdef inline void store_int16(uint8_t* at, int16_t value) noexcept nogil:
    cdef uint16_t raw = OTTLA_SWAP16(<uint16_t>value)
    memcpy(at, &raw, 2)


cdef inline void store_int32(uint8_t* at, int32_t value) noexcept nogil:
    cdef uint32_t raw = OTTLA_SWAP32(<uint32_t>value)
    memcpy(at, &raw, 4)


cdef inline void store_int64(uint8_t* at, int64_t value) noexcept nogil:
    cdef uint64_t raw = OTTLA_SWAP64(<uint64_t>value)
    memcpy(at, &raw, 8)
