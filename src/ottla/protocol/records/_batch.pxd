"""What other compiled modules ask of a batch."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef class Batch:
    cdef object memory
    cdef uint8_t* at
    cdef readonly Py_ssize_t position
    cdef readonly Py_ssize_t size

    cdef bint is_all(self) noexcept
    cdef bint is_special(self) noexcept
    cdef bint has_producer(self) noexcept
    cdef int32_t last_delta(self) noexcept
    cdef int64_t latest_timestamp(self) noexcept
    cdef uint32_t checksum(self) except? 0
    cdef bint is_intact(self) except -1
    cdef bint in_order(self, Py_ssize_t size_max, int64_t earliest, int64_t latest, bint needs_keys) except -1
    cdef bint records_in_order(self, int32_t count, bint needs_keys, int64_t earliest, int64_t latest) noexcept nogil
    cdef int take_place(self, int64_t base_offset, int32_t partition_leader_epoch) except -1
    cdef seal(self)
    cdef need_writable(self)
