"""A slot while it is filled: one array's buffers on the C heap, and how values are appended to them.

Functions return 0, or why they can't. A validity bitmap appears with the first null. Truncating needs no memory of what
was there before: the length of every slot follows from the offsets of the slot around it.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cdef enum:
    NOTHING = 0
    BIT = 1
    FIXED = 2
    BYTES = 3
    STRUCT = 4
    LIST = 5
    ROWS_MIN = 256
    BYTES_MAX = 0x7FFFFFFF
    COLUMN_FULL = 10
    NO_MEMORY = 15


cdef struct Slot:
    int kind
    int first_child
    int children
    Py_ssize_t width
    Py_ssize_t rows
    Py_ssize_t rows_max
    Py_ssize_t bytes
    Py_ssize_t bytes_max
    Py_ssize_t validity_max
    uint8_t* validity
    uint8_t* data
    int32_t* offsets


cdef inline int resize(void** memory, Py_ssize_t size) noexcept nogil:
    cdef void* moved = realloc(memory[0], size if size > 0 else 1)
    if moved == NULL:
        return NO_MEMORY
    memory[0] = moved
    return 0


cdef inline int grow_rows(Slot* slot) noexcept nogil:
    """Room for one more row at least."""
    cdef Py_ssize_t rows = slot.rows_max * 2 if slot.rows_max else ROWS_MIN
    if rows > BYTES_MAX:
        rows = BYTES_MAX
        if slot.rows >= rows:
            return COLUMN_FULL
    if slot.kind == FIXED and resize(<void**>&slot.data, rows * slot.width):
        return NO_MEMORY
    if slot.kind == BIT and resize(<void**>&slot.data, (rows + 7) // 8):
        return NO_MEMORY
    if slot.kind == BYTES or slot.kind == LIST:
        if resize(<void**>&slot.offsets, (rows + 1) * 4):
            return NO_MEMORY
        slot.offsets[0] = 0
    slot.rows_max = rows
    return 0


cdef inline int grow_validity(Slot* slot) noexcept nogil:
    """A bit for each row there is room for; those that are new are set."""
    cdef Py_ssize_t size = (slot.rows_max + 7) // 8
    if resize(<void**>&slot.validity, size):
        return NO_MEMORY
    memset(slot.validity + slot.validity_max, 0xFF, size - slot.validity_max)
    slot.validity_max = size
    return 0


cdef inline int open_row(Slot* slot) noexcept nogil:
    """Room for a row; it is valid until `mark_null` says otherwise."""
    cdef int reason
    if slot.rows >= slot.rows_max:
        reason = grow_rows(slot)
        if reason:
            return reason
        if slot.validity != NULL and grow_validity(slot):
            return NO_MEMORY
    if slot.validity != NULL:
        slot.validity[slot.rows >> 3] |= <uint8_t>(1 << (slot.rows & 7))
    return 0


cdef inline int push_bytes(Slot* slot, const uint8_t* source, Py_ssize_t size) noexcept nogil:
    """The next value of a slot of bytes."""
    cdef Py_ssize_t needed, capacity
    cdef int reason = open_row(slot)
    if reason:
        return reason
    needed = slot.bytes + size
    if needed > slot.bytes_max:
        if needed > BYTES_MAX:
            return COLUMN_FULL
        capacity = max(2 * slot.bytes_max, needed + 1024)
        if resize(<void**>&slot.data, capacity):
            return NO_MEMORY
        slot.bytes_max = capacity
    if size:
        memcpy(slot.data + slot.bytes, source, size)
    slot.bytes = needed
    slot.rows += 1
    slot.offsets[slot.rows] = <int32_t>needed
    return 0


cdef inline int push_bit(Slot* slot, bint value) noexcept nogil:
    cdef int reason = open_row(slot)
    cdef uint8_t bit = <uint8_t>(1 << (slot.rows & 7))
    if reason:
        return reason
    if value:
        slot.data[slot.rows >> 3] |= bit
    else:
        slot.data[slot.rows >> 3] &= ~bit
    slot.rows += 1
    return 0


cdef inline int push_struct(Slot* slot) noexcept nogil:
    """A row whose parts have theirs."""
    cdef int reason = open_row(slot)
    if reason == 0:
        slot.rows += 1
    return reason


cdef inline int push_list(Slot* slot, Py_ssize_t end) noexcept nogil:
    """A row whose items end there."""
    cdef int reason = open_row(slot)
    if reason:
        return reason
    slot.rows += 1
    slot.offsets[slot.rows] = <int32_t>end
    return 0


cdef inline int push_null(Slot* slots, const int32_t* children, int number) noexcept nogil:
    """A null, with nulls in its parts."""
    cdef Slot* slot = &slots[number]
    cdef int index, reason
    reason = open_row(slot)
    if reason:
        return reason
    if slot.kind != NOTHING:
        if slot.validity == NULL and grow_validity(slot):
            return NO_MEMORY
        slot.validity[slot.rows >> 3] &= ~<uint8_t>(1 << (slot.rows & 7))
    if slot.kind == FIXED:
        memset(slot.data + slot.rows * slot.width, 0, slot.width)
    elif slot.kind == BIT:
        slot.data[slot.rows >> 3] &= ~<uint8_t>(1 << (slot.rows & 7))
    elif slot.kind == STRUCT:
        for index in range(slot.children):
            reason = push_null(slots, children, children[slot.first_child + index])
            if reason:
                return reason
    slot.rows += 1
    if slot.kind == BYTES or slot.kind == LIST:
        slot.offsets[slot.rows] = slot.offsets[slot.rows - 1]
    return 0


cdef inline void truncate(Slot* slots, const int32_t* children, int number, Py_ssize_t rows) noexcept nogil:
    """Back to so many rows, with the parts."""
    cdef Slot* slot = &slots[number]
    cdef int index
    cdef Py_ssize_t inner = rows
    slot.rows = min(slot.rows, rows)
    if slot.kind == BYTES:
        slot.bytes = slot.offsets[rows] if slot.rows_max else 0
    elif slot.kind == LIST:
        inner = slot.offsets[rows] if slot.rows_max else 0
    for index in range(slot.children):
        truncate(slots, children, children[slot.first_child + index], inner)


cdef inline void release(Slot* slot) noexcept nogil:
    free(slot.validity)
    free(slot.data)
    free(slot.offsets)
    slot.validity = slot.data = NULL
    slot.offsets = NULL
    slot.rows = slot.rows_max = slot.bytes = slot.bytes_max = slot.validity_max = 0
