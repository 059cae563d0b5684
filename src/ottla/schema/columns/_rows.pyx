"""The compiled loop over the rows of a column, for all kinds of records; `slot_plain` is the twin to read first.

A subclass chooses a program and reads one record from `at` on. The loop does not hold the GIL.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free

from ottla.schema.columns._column cimport BinaryColumn, filled, is_null
from ottla.schema.columns._slot cimport Slot, push_null, release, truncate

from ottla.schema.columns import layout

cdef enum:
    ENDS_EARLY = 1
    NO_MEMORY = 15


cdef class RowDecoder:
    """Appends one column of records after another, and then hands out the buffers."""

    def __cinit__(self, slots, *_):
        cdef int index, at = 0
        self.programs = []
        self.count = len(slots)
        self.slots = <Slot*>calloc(max(self.count, 1), sizeof(Slot))
        self.children = <int32_t*>calloc(max(sum(len(slot.children) for slot in slots), 1), sizeof(int32_t))
        if self.slots == NULL or self.children == NULL:
            raise MemoryError
        for index, slot in enumerate(slots):
            self.slots[index].kind = slot.kind
            self.slots[index].width = slot.width
            self.slots[index].first_child = at
            self.slots[index].children = len(slot.children)
            for child in slot.children:
                # Parts follow the whole, so that no slot is inside of itself.
                if not index < child < self.count:
                    raise ValueError("a slot has no such part")
                self.children[at] = child
                at += 1

    def __dealloc__(self):
        cdef int index
        if self.slots != NULL:
            for index in range(self.count):
                release(&self.slots[index])
        free(self.slots)
        free(self.children)

    cdef int choose(self, int number) except -1:
        """Makes a program the one that `read` runs."""
        raise NotImplementedError

    cdef int read(self, const uint8_t* end) noexcept nogil:
        """Reads one record from `at` to the end; 0, or why it can't be read, with `at` where it stopped."""
        return ENDS_EARLY

    def run(self, data, offsets, validity, Py_ssize_t first, programs, Py_ssize_t skip):
        """Decodes a row for each of `programs`; see the twin."""
        cdef BinaryColumn column = BinaryColumn(data, offsets, validity)
        cdef Py_buffer numbers
        PyObject_GetBuffer(programs, &numbers, PyBUF_SIMPLE)
        try:
            column.check(first, numbers.len // 4)
            return self._run(column, first, <const int32_t*>numbers.buf, numbers.len // 4, skip)
        finally:
            PyBuffer_Release(&numbers)

    cdef list _run(
        self, BinaryColumn column, Py_ssize_t first, const int32_t* numbers, Py_ssize_t rows, Py_ssize_t skip
    ):
        cdef list flaws = []
        cdef Py_ssize_t row = 0
        cdef int32_t known = len(self.programs), number = -1
        cdef int reason
        cdef int64_t start
        while row < rows:
            if numbers[row] >= 0 and numbers[row] != number:
                number = numbers[row]
                if number >= known:
                    raise ValueError("no such program")
                self.choose(number)
            with nogil:
                reason = self._run_rows(column, &row, first, numbers, rows, skip, number)
            if reason == NO_MEMORY:
                raise MemoryError
            if reason:
                start = <int64_t>column.offsets[first + row] + skip
                flaws.append(layout.Flaw(row, reason, 0 if self.at == NULL else self.at - (column.data + start)))
                row += 1
        return flaws

    cdef int _run_rows(
        self, BinaryColumn column, Py_ssize_t* place, Py_ssize_t first, const int32_t* numbers, Py_ssize_t rows,
        Py_ssize_t skip, int32_t number,
    ) noexcept nogil:
        """Rows of one program, up to one with another or one that can't be read; that one is null already."""
        cdef Py_ssize_t row = place[0], before
        cdef int64_t start, end
        cdef int reason = 0
        while row < rows:
            if numbers[row] < 0 or is_null(column.validity, first + row):
                reason = push_null(self.slots, self.children, 0)
                if reason:
                    self.at = NULL
                    break
                row += 1
                continue
            if numbers[row] != number:
                break
            start = <int64_t>column.offsets[first + row] + skip
            end = column.offsets[first + row + 1]
            before = self.slots[0].rows
            self.at = NULL
            reason = ENDS_EARLY
            if skip <= start <= end <= column.bytes:
                self.at = column.data + start
                reason = self.read(column.data + end)
            if reason:
                truncate(self.slots, self.children, 0, before)
                if push_null(self.slots, self.children, 0):
                    reason = NO_MEMORY
                break
            row += 1
        place[0] = row
        return reason

    def finish(self):
        """The buffers of each slot; the decoder is empty again."""
        return [filled(&self.slots[index]) for index in range(self.count)]
