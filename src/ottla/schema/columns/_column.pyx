"""Buffers on the C heap that are lent out as `layout.Filled`, and binary columns that are read."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cython cimport final
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc

from ottla.schema.columns._slot cimport BIT, BYTES, FIXED, LIST, NOTHING, Slot, grow_rows, release

from ottla.schema.columns import layout


@final
cdef class Memory:
    """A buffer, lent out by the buffer protocol."""

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.size, 1, flags)


cdef Memory lent(void* data, Py_ssize_t size):
    """Takes over the memory."""
    cdef Memory memory = Memory()
    # Readers of buffers do not expect NULL, not even for no bytes.
    memory.data = <uint8_t*>data if data != NULL else <uint8_t*>malloc(1)
    if memory.data == NULL:
        raise MemoryError
    memory.size = size
    return memory


cdef object filled(Slot* slot):
    """The slot's buffers, which leave it empty."""
    cdef Py_ssize_t rows = slot.rows, nulls = 0, row, size
    validity = offsets = data = None
    if slot.kind == NOTHING:
        release(slot)
        return layout.Filled(rows, rows, None, None, None)
    if slot.validity != NULL:
        for row in range(rows):
            nulls += not (slot.validity[row >> 3] >> (row & 7)) & 1
    if nulls:
        validity = lent(slot.validity, (rows + 7) // 8)
        slot.validity = NULL
    if slot.kind == BYTES or slot.kind == LIST:
        if slot.offsets == NULL and grow_rows(slot):
            raise MemoryError
        offsets = lent(slot.offsets, (rows + 1) * 4)
        slot.offsets = NULL
    if slot.kind == BYTES or slot.kind == FIXED or slot.kind == BIT:
        size = slot.bytes if slot.kind == BYTES else rows * slot.width if slot.kind == FIXED else (rows + 7) // 8
        data = lent(slot.data, size)
        slot.data = NULL
    release(slot)
    return layout.Filled(rows, nulls, validity, offsets, data)


@final
cdef class BinaryColumn:
    """A binary column that is read; holds its buffers."""

    def __cinit__(self, data, offsets, validity):
        PyObject_GetBuffer(data, &self.data_view, PyBUF_SIMPLE)
        self.data = <const uint8_t*>self.data_view.buf
        self.bytes = self.data_view.len
        PyObject_GetBuffer(offsets, &self.offsets_view, PyBUF_SIMPLE)
        self.offsets = <const int32_t*>self.offsets_view.buf
        if validity is not None:
            PyObject_GetBuffer(validity, &self.validity_view, PyBUF_SIMPLE)
            self.validity = <const uint8_t*>self.validity_view.buf

    def __dealloc__(self):
        # A view that was never filled has no owner, and releasing it does nothing.
        PyBuffer_Release(&self.data_view)
        PyBuffer_Release(&self.offsets_view)
        PyBuffer_Release(&self.validity_view)

    cdef int check(self, Py_ssize_t first, Py_ssize_t rows) except -1:
        """Raises where the rows are not all inside of the buffers."""
        cdef bint is_whole = first >= 0 and (rows == 0 or (first + rows + 1) * 4 <= self.offsets_view.len)
        if self.validity != NULL:
            is_whole = is_whole and (first + rows + 7) // 8 <= self.validity_view.len
        if not is_whole:
            raise ValueError("the column's buffers are shorter than the column")
        return 0
