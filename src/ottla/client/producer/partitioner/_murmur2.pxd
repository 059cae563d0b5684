"""Inline C: the hash that Kafka's clients choose partitions by (murmur2 with Kafka's seed, 32 bits)."""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy


cdef inline uint32_t murmur2_of(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """As `murmur2.murmur2` documents; reads little-endian words, so big-endian machines use the plain twin."""
    cdef uint32_t m = 0x5BD1E995
    cdef uint32_t h = <uint32_t>0x9747B28C ^ <uint32_t>size
    cdef uint32_t k
    while size >= 4:
        memcpy(&k, at, 4)
        k *= m
        k ^= k >> 24
        k *= m
        h = (h * m) ^ k
        at += 4
        size -= 4
    if size >= 3:
        h ^= <uint32_t>at[2] << 16
    if size >= 2:
        h ^= <uint32_t>at[1] << 8
    if size >= 1:
        h ^= <uint32_t>at[0]
        h *= m
    h ^= h >> 13
    h *= m
    return h ^ (h >> 15)


cdef inline int32_t partition_of(const uint8_t* at, Py_ssize_t size, int32_t partitions) noexcept nogil:
    """The sign bit is dropped (Kafka's toPositive), not negated."""
    return <int32_t>(murmur2_of(at, size) & 0x7FFFFFFF) % partitions
