"""What the log's own compiled half needs of a segment's."""

from libc.stdint cimport int64_t, uint8_t


cdef class SegmentEnd:
    cdef object held_file
    cdef int descriptor
    cdef public int64_t _index_interval_bytes
    cdef public int64_t _max_timestamp
    cdef public int64_t _max_timestamp_offset
    cdef public int64_t _next_offset
    cdef public int64_t _unindexed_bytes
    cdef public int64_t offset_max
    cdef public int64_t size_bytes
    cdef public bint is_index_full

    cdef int add(
        self, object data, const uint8_t *bytes, Py_ssize_t size, int64_t last_offset, int64_t max_timestamp
    ) except -1
    cdef int note(self, int64_t position, int64_t size, int64_t last_offset, int64_t max_timestamp) except -1
