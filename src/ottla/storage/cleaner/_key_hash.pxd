"""Inline C for the hash that stands for a key: SipHash-2-4 with a secret seed and 128 bits of output."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy


cdef struct Slot:
    uint64_t low
    uint64_t high
    int64_t offset_plus_one


cdef inline uint64_t rotate(uint64_t word, int bits) noexcept nogil:
    return (word << bits) | (word >> (64 - bits))


cdef inline void sip_round(uint64_t* v) noexcept nogil:
    v[0] += v[1]
    v[2] += v[3]
    v[1] = rotate(v[1], 13) ^ v[0]
    v[3] = rotate(v[3], 16) ^ v[2]
    v[0] = rotate(v[0], 32)
    v[2] += v[1]
    v[0] += v[3]
    v[1] = rotate(v[1], 17) ^ v[2]
    v[3] = rotate(v[3], 21) ^ v[0]
    v[2] = rotate(v[2], 32)


cdef inline void sip_hash(const uint8_t* key, int32_t size, uint64_t* seed, Slot* out) noexcept nogil:
    """SipHash-2-4 with 128 bits of output, words read in this machine's byte order."""
    cdef uint64_t[4] v
    cdef uint64_t word
    cdef int32_t left = size
    v[0] = <uint64_t>0x736f6d6570736575 ^ seed[0]
    v[1] = <uint64_t>0x646f72616e646f6d ^ seed[1] ^ 0xee
    v[2] = <uint64_t>0x6c7967656e657261 ^ seed[0]
    v[3] = <uint64_t>0x7465646279746573 ^ seed[1]
    while left >= 8:
        memcpy(&word, key, 8)
        v[3] ^= word
        sip_round(v)
        sip_round(v)
        v[0] ^= word
        key += 8
        left -= 8
    word = 0
    memcpy(&word, key, left)
    word ^= <uint64_t>size << 56
    v[3] ^= word
    sip_round(v)
    sip_round(v)
    v[0] ^= word
    v[2] ^= 0xee
    sip_round(v)
    sip_round(v)
    sip_round(v)
    sip_round(v)
    out.low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xdd
    sip_round(v)
    sip_round(v)
    sip_round(v)
    sip_round(v)
    out.high = v[0] ^ v[1] ^ v[2] ^ v[3]
