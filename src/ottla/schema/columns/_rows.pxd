"""What all decoders of columns share: slots that are filled, and the loop over rows."""

from libc.stdint cimport int32_t, uint8_t

from ottla.schema.columns._column cimport BinaryColumn
from ottla.schema.columns._slot cimport Slot


cdef class RowDecoder:
    cdef Slot* slots
    cdef int count
    cdef int32_t* children
    cdef list programs
    cdef const uint8_t* at
    cdef int choose(self, int number) except -1
    cdef int read(self, const uint8_t* end) noexcept nogil
    cdef list _run(
        self, BinaryColumn column, Py_ssize_t first, const int32_t* numbers, Py_ssize_t rows, Py_ssize_t skip
    )
    cdef int _run_rows(
        self, BinaryColumn column, Py_ssize_t* place, Py_ssize_t first, const int32_t* numbers, Py_ssize_t rows,
        Py_ssize_t skip, int32_t number,
    ) noexcept nogil
