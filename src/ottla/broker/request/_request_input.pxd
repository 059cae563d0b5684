"""Inline C for lanes: the bytes of a request, read from its beginning to its end."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp

cdef enum:
    CLIENT_ID_AT = 10  # behind key, version, correlation id and the client id's own length
    REFUSED = -2  # no length, which may be -1 for null


cdef struct Input:
    const uint8_t *data
    Py_ssize_t position
    Py_ssize_t limit
    bint flexible


cdef inline bint has(Input *source, Py_ssize_t count) noexcept nogil:
    return source.limit - source.position >= count


cdef inline bint expect(Input *source, const char *wanted, Py_ssize_t count) noexcept nogil:
    """Whether the next bytes are these; passes over them."""
    if not has(source, count) or memcmp(source.data + source.position, wanted, count) != 0:
        return False
    source.position += count
    return True


cdef inline Py_ssize_t read_uvarint(Input *source) noexcept nogil:
    """A length as flexible versions write it, one too large; REFUSED if it is none."""
    cdef uint64_t value = 0
    cdef int shift = 0
    cdef uint8_t byte
    while source.position < source.limit and shift < 35:
        byte = source.data[source.position]
        source.position += 1
        value |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            return <Py_ssize_t>value
        shift += 7
    return REFUSED
