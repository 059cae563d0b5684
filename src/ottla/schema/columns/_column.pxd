"""What the loops in both directions share: buffers that are lent out, and binary columns that are read."""

from libc.stdint cimport int32_t, uint8_t

from ottla.schema.columns._slot cimport Slot


cdef class Memory:
    cdef uint8_t* data
    cdef Py_ssize_t size


cdef Memory lent(void* data, Py_ssize_t size)

cdef object filled(Slot* slot)


cdef class BinaryColumn:
    cdef Py_buffer data_view
    cdef Py_buffer offsets_view
    cdef Py_buffer validity_view
    cdef const uint8_t* data
    cdef const int32_t* offsets
    cdef const uint8_t* validity
    cdef Py_ssize_t bytes

    cdef int check(self, Py_ssize_t first, Py_ssize_t rows) except -1


cdef inline bint is_null(const uint8_t* validity, Py_ssize_t row) noexcept nogil:
    return validity != NULL and not (validity[row >> 3] >> (row & 7)) & 1
