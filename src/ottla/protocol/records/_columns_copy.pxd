"""Inline C that copies the bytes of keys and values: mostly short, and each from and to an odd place."""

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

cdef enum:
    # Short copies run in steps of this many bytes.
    COPY_STEP = 32
    STEPPED_BYTES_MAX = 512


cdef inline void copy_bytes(
    uint8_t* to, const uint8_t* source, Py_ssize_t length, const uint8_t* source_end
) noexcept nogil:
    """Copies to where up to `COPY_STEP` more bytes may be overwritten.

    For short lengths whole steps take a fraction of a call of memcpy, which has to find out first how to do it.
    """
    cdef Py_ssize_t done = 0
    if length <= STEPPED_BYTES_MAX and source_end - source >= length + COPY_STEP:
        while done < length:
            memcpy(to + done, source + done, COPY_STEP)
            done += COPY_STEP
    elif length > 0:
        memcpy(to, source, length)
