"""The searches that every read does, compiled; `search_plain` documents them."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    HEAD_BYTES = 27
    LEGACY_HEAD_BYTES = 17
    LOG_OVERHEAD = 12
    MAGIC_AT = 16
    LAST_DELTA_AT = 23
    MAGIC = 2


cdef inline int32_t load_int32(const uint8_t* at) noexcept nogil:
    return <int32_t>((<uint32_t>at[0] << 24) | (<uint32_t>at[1] << 16) | (<uint32_t>at[2] << 8) | at[3])


cdef inline int64_t load_int64(const uint8_t* at) noexcept nogil:
    return <int64_t>((<uint64_t><uint32_t>load_int32(at) << 32) | <uint32_t>load_int32(at + 4))


def floor_slot_int32(object entries, Py_ssize_t count, int64_t target):
    """See `search_plain.floor_slot_int32`."""
    cdef Py_buffer view
    cdef const uint8_t* data
    cdef Py_ssize_t low = 0, high, middle
    PyObject_GetBuffer(entries, &view, PyBUF_SIMPLE)
    data = <const uint8_t*>view.buf
    high = min(count, view.len // 8)
    while low < high:
        middle = (low + high) >> 1
        if load_int32(data + middle * 8) > target:
            high = middle
        else:
            low = middle + 1
    PyBuffer_Release(&view)
    return low - 1


def floor_entry(object entries, Py_ssize_t count, int64_t target):
    """See `search_plain.floor_entry`."""
    cdef Py_buffer view
    cdef const uint8_t* data
    cdef Py_ssize_t low = 0, high, middle
    cdef int32_t first = 0, second = 0
    PyObject_GetBuffer(entries, &view, PyBUF_SIMPLE)
    data = <const uint8_t*>view.buf
    high = min(count, view.len // 8)
    while low < high:
        middle = (low + high) >> 1
        if load_int32(data + middle * 8) > target:
            high = middle
        else:
            low = middle + 1
    if low:
        first = load_int32(data + (low - 1) * 8)
        second = load_int32(data + (low - 1) * 8 + 4)
    PyBuffer_Release(&view)
    return (first, second) if low else None


def floor_slot_timestamp(object entries, Py_ssize_t count, int64_t target):
    """See `search_plain.floor_slot_timestamp`."""
    cdef Py_buffer view
    cdef const uint8_t* data
    cdef Py_ssize_t low = 0, high, middle
    PyObject_GetBuffer(entries, &view, PyBUF_SIMPLE)
    data = <const uint8_t*>view.buf
    high = min(count, view.len // 12)
    while low < high:
        middle = (low + high) >> 1
        if load_int64(data + middle * 12) > target:
            high = middle
        else:
            low = middle + 1
    PyBuffer_Release(&view)
    return low - 1


def find_batch(bytes data, int64_t offset, int64_t first_last_offset=-1):
    """See `search_plain.find_batch`."""
    cdef const uint8_t* start = data
    cdef const uint8_t* at
    cdef int64_t position = 0, end = len(data), last_offset, length, before = -1
    cdef uint8_t magic
    while position + LEGACY_HEAD_BYTES <= end:
        at = start + position
        length = load_int32(at + 8)
        magic = at[MAGIC_AT]
        if length < LOG_OVERHEAD or magic > MAGIC:
            return position, -1
        last_offset = load_int64(at)
        if magic == MAGIC:
            if position + HEAD_BYTES > end:
                break
            last_offset += load_int32(at + LAST_DELTA_AT)
        if first_last_offset >= 0:
            if last_offset != first_last_offset:
                return position, -1
            first_last_offset = -1
        if last_offset <= before:
            return position, -1
        if last_offset >= offset:
            return position, length + LOG_OVERHEAD
        before = last_offset
        position += length + LOG_OVERHEAD
    return position, 0
