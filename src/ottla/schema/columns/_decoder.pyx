"""The compiled loop from encoded records to the buffers of Arrow arrays; `decoder_plain` is the twin to read first.

Every length is checked against the end of its record before it is followed. No loop holds the GIL.
"""

from cython cimport final
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from ottla.protocol.records._varint cimport load_int32
from ottla.schema.columns._column cimport BinaryColumn, Memory, is_null, lent
from ottla.schema.columns._number cimport (
    big_decimal, is_utf8, read_long, store_double, store_float, store_long_as_float,
)
from ottla.schema.columns._op cimport (
    OP_NULL, OP_BOOLEAN, OP_INT, OP_LONG, OP_FLOAT, OP_DOUBLE, OP_INTEGER_AS_FLOAT, OP_INTEGER_AS_DOUBLE,
    OP_FLOAT_AS_DOUBLE, OP_STRING, OP_BYTES, OP_FIXED, OP_DECIMAL, OP_RECORD, OP_ARRAY, OP_MAP, OP_MEMBER,
    OP_BARE, OP_TEXT, OP_CONSTANT, OP_CHOICE, OP_FAIL, OP_SKIP_NUMBER, OP_SKIP_BYTES, OP_SKIP_FIXED,
    OP_SKIP_RECORD, OP_SKIP_ARRAY, OP_SKIP_MAP, ENDS_EARLY, INT_TOO_LARGE, NEGATIVE_LENGTH, NOT_UTF8,
    NO_SUCH_BRANCH, DECIMAL_TOO_LARGE, TOO_MANY_ITEMS, TOO_DEEP, REASON, FRAME_BYTES,
)
from ottla.schema.columns._rows cimport RowDecoder
from ottla.schema.columns._slot cimport Slot, open_row, push_bit, push_bytes, push_list, push_null, push_struct

from ottla.schema.columns import layout

cdef int DEPTH_MAX = layout.DEPTH_MAX
cdef int64_t EMPTY_ITEMS_MAX = layout.EMPTY_ITEMS_MAX


cdef struct Step:
    int op
    int slot
    int64_t a
    int64_t b
    int first
    int parts


cdef struct Record:
    # One record while it is read.
    const Step* steps
    const int32_t* parts
    const uint8_t* blob
    Slot* slots
    const int32_t* children
    const uint8_t* at
    const uint8_t* end
    int depth
    int64_t empty_left


cdef inline int _length(Record* record, Py_ssize_t* length) noexcept nogil:
    """Reads a length whose bytes are there."""
    cdef int64_t raw = 0
    cdef int reason = read_long(&record.at, record.end, &raw)
    if reason:
        return reason
    if raw < 0:
        return NEGATIVE_LENGTH
    if raw > record.end - record.at:
        return ENDS_EARLY
    length[0] = raw
    return 0


cdef inline int _run_bytes(Record* record, Slot* slot, bint is_text) noexcept nogil:
    cdef Py_ssize_t length = 0
    cdef int reason = _length(record, &length)
    if reason:
        return reason
    record.at += length
    if is_text and not is_utf8(record.at - length, length):
        return NOT_UTF8
    return push_bytes(slot, record.at - length, length)


cdef int _run_number(Record* record, int op, Slot* slot) noexcept nogil:
    """Numbers that are written as varints."""
    cdef int64_t raw = 0
    cdef int reason = read_long(&record.at, record.end, &raw)
    if reason:
        return reason
    if op == OP_INT and not INT32_MIN <= raw <= INT32_MAX:
        return INT_TOO_LARGE
    reason = open_row(slot)
    if reason:
        return reason
    if op == OP_INT:
        (<int32_t*>slot.data)[slot.rows] = <int32_t>raw
    elif op == OP_LONG:
        (<int64_t*>slot.data)[slot.rows] = raw
    elif op == OP_INTEGER_AS_FLOAT:
        store_long_as_float(slot.data + 4 * slot.rows, raw)
    else:
        (<double*>slot.data)[slot.rows] = <double>raw
    slot.rows += 1
    return 0


cdef int _run_fixed(Record* record, const Step* step, Slot* slot) noexcept nogil:
    """What has a size that the schema gives."""
    cdef Py_ssize_t size
    cdef int reason, op = step.op
    if op == OP_DOUBLE:
        size = 8
    elif op == OP_FIXED:
        size = step.a
    else:
        size = 4
    if size > record.end - record.at:
        return ENDS_EARLY
    reason = open_row(slot)
    if reason:
        return reason
    if op == OP_FIXED:
        memcpy(slot.data + slot.rows * size, record.at, size)
    elif op == OP_DOUBLE:
        store_double(slot.data + 8 * slot.rows, record.at)
    else:
        store_float(slot.data + slot.rows * (8 if op == OP_FLOAT_AS_DOUBLE else 4), record.at, op == OP_FLOAT_AS_DOUBLE)
    slot.rows += 1
    record.at += size
    return 0


cdef int _run_decimal(Record* record, const Step* step, Slot* slot) noexcept nogil:
    cdef Py_ssize_t length = step.a
    cdef int reason
    if step.a < 0:
        reason = _length(record, &length)
        if reason:
            return reason
    if length > record.end - record.at:
        return ENDS_EARLY
    record.at += length
    reason = open_row(slot)
    if reason:
        return reason
    if not big_decimal(slot.data + slot.rows * slot.width, slot.width, record.at - length, length, record.blob + step.b):
        return DECIMAL_TOO_LARGE
    slot.rows += 1
    return 0


cdef int _run_blocks(Record* record, const Step* step, Slot* entries) noexcept nogil:
    """Items in blocks; `entries` gets a row for each."""
    cdef int64_t raw = 0
    cdef uint64_t count, done
    cdef int part, reason
    cdef bint takes_bytes = step.a != 0 or step.op == OP_MAP or step.op == OP_SKIP_MAP
    while True:
        reason = read_long(&record.at, record.end, &raw)
        if reason or raw == 0:
            return reason
        count = <uint64_t>raw
        if raw < 0:
            count = 0 - count
            reason = read_long(&record.at, record.end, &raw)
            if reason:
                return reason
            if raw < 0:
                return NEGATIVE_LENGTH
        if takes_bytes:
            if count > <uint64_t>(record.end - record.at):
                return TOO_MANY_ITEMS
        else:
            if count > <uint64_t>record.empty_left:
                return TOO_MANY_ITEMS
            record.empty_left -= <int64_t>count
        done = 0
        while done < count:
            for part in range(step.parts):
                reason = _run(record, record.parts[step.first + part])
                if reason:
                    return reason
            if entries != NULL:
                reason = push_struct(entries)
                if reason:
                    return reason
            done += 1


cdef int _run_list(Record* record, const Step* step, Slot* slot) noexcept nogil:
    cdef Slot* items = &record.slots[record.children[slot.first_child]]
    cdef int reason = _run_blocks(record, step, items if step.op == OP_MAP else NULL)
    return reason or push_list(slot, items.rows)


cdef int _run_member(Record* record, const Step* step, Slot* slot) noexcept nogil:
    cdef int index, reason
    for index in range(slot.children):
        if index != step.a:
            reason = push_null(record.slots, record.children, record.children[slot.first_child + index])
            if reason:
                return reason
    reason = _run(record, record.parts[step.first])
    return reason or push_struct(slot)


cdef int _run_constant(Record* record, const Step* step) noexcept nogil:
    cdef const uint8_t* at = record.at
    cdef const uint8_t* end = record.end
    cdef int reason
    record.at = record.blob + step.a
    record.end = record.at + step.b
    reason = _run(record, record.parts[step.first])
    record.at = at
    record.end = end
    return reason


cdef int _run_parts(Record* record, const Step* step) noexcept nogil:
    cdef int part, reason
    for part in range(step.parts):
        reason = _run(record, record.parts[step.first + part])
        if reason:
            return reason
    return 0


cdef int _run_choice(Record* record, const Step* step) noexcept nogil:
    cdef int64_t raw = 0
    cdef int reason = read_long(&record.at, record.end, &raw)
    if reason:
        return reason
    if not 0 <= raw < step.parts:
        return NO_SUCH_BRANCH
    return _run(record, record.parts[step.first + <int>raw])


cdef int _run_nested(Record* record, const Step* step, Slot* slot) noexcept nogil:
    """Steps that run others."""
    cdef int reason, op = step.op
    if op == OP_ARRAY or op == OP_MAP:
        return _run_list(record, step, slot)
    if op == OP_MEMBER:
        return _run_member(record, step, slot)
    if op == OP_CONSTANT:
        return _run_constant(record, step)
    if op == OP_SKIP_ARRAY or op == OP_SKIP_MAP:
        return _run_blocks(record, step, NULL)
    reason = _run_parts(record, step)
    return reason or (push_struct(slot) if op == OP_RECORD else 0)


cdef int _run_rest(Record* record, const Step* step, Slot* slot) noexcept nogil:
    """The rarer ones of the steps that run no others."""
    cdef int64_t raw = 0
    cdef Py_ssize_t length = 0
    cdef int reason, op = step.op
    if op == OP_BOOLEAN:
        if record.at >= record.end:
            return ENDS_EARLY
        record.at += 1
        return push_bit(slot, (record.at - 1)[0] != 0)
    if op == OP_TEXT:
        return push_bytes(slot, record.blob + step.a, step.b)
    if op == OP_DECIMAL:
        return _run_decimal(record, step, slot)
    if op == OP_BARE:
        length = record.end - record.at
        record.at = record.end
        if step.a and not is_utf8(record.end - length, length):
            return NOT_UTF8
        return push_bytes(slot, record.end - length, length)
    if op == OP_FAIL:
        return REASON + <int>step.a
    if op == OP_SKIP_NUMBER:
        return read_long(&record.at, record.end, &raw)
    length = step.a
    if op == OP_SKIP_BYTES:
        reason = _length(record, &length)
        if reason:
            return reason
    if length > record.end - record.at:
        return ENDS_EARLY
    record.at += length
    return 0


cdef int _run(Record* record, int number) noexcept nogil:
    """One step; 0, or why the record can't be read."""
    cdef const Step* step = &record.steps[number]
    cdef Slot* slot = &record.slots[step.slot] if step.slot >= 0 else NULL
    cdef int reason, op = step.op
    record.depth += 1
    if record.depth > DEPTH_MAX:
        return TOO_DEEP
    if op == OP_CHOICE:
        reason = _run_choice(record, step)
    elif op == OP_STRING or op == OP_BYTES:
        reason = _run_bytes(record, slot, op == OP_STRING)
    elif op == OP_INT or op == OP_LONG or op == OP_INTEGER_AS_FLOAT or op == OP_INTEGER_AS_DOUBLE:
        reason = _run_number(record, op, slot)
    elif op == OP_FLOAT or op == OP_DOUBLE or op == OP_FLOAT_AS_DOUBLE or op == OP_FIXED:
        reason = _run_fixed(record, step, slot)
    elif op == OP_NULL:
        reason = push_null(record.slots, record.children, step.slot)
    elif OP_RECORD <= op <= OP_MEMBER or op == OP_CONSTANT or op >= OP_SKIP_RECORD:
        reason = _run_nested(record, step, slot)
    else:
        reason = _run_rest(record, step, slot)
    record.depth -= 1
    return reason


@final
cdef class _Steps:
    """A program as C sees it."""

    cdef Step* steps
    cdef int32_t* parts
    cdef bytes blob

    def __cinit__(self, program, int slots):
        cdef int count = len(program.steps), index, at = 0
        cdef int total = sum(len(step.parts) for step in program.steps)
        self.blob = program.blob
        self.steps = <Step*>calloc(max(count, 1), sizeof(Step))
        self.parts = <int32_t*>calloc(max(total, 1), sizeof(int32_t))
        if self.steps == NULL or self.parts == NULL:
            raise MemoryError
        for index, step in enumerate(program.steps):
            if not -1 <= step.slot < slots:
                raise ValueError("a step has no slot")
            self.steps[index] = Step(step.op, step.slot, step.a, step.b, at, len(step.parts))
            for part in step.parts:
                if not 0 <= part < count:
                    raise ValueError("a step has no such part")
                self.parts[at] = part
                at += 1

    def __dealloc__(self):
        free(self.steps)
        free(self.parts)


@final
cdef class ColumnDecoder(RowDecoder):
    """Reads Avro records."""

    cdef Record record

    def add(self, program):
        """The number of a program, for `run`."""
        self.programs.append(_Steps(program, self.count))
        return len(self.programs) - 1

    cdef int choose(self, int number) except -1:
        cdef _Steps steps = self.programs[number]
        self.record.slots = self.slots
        self.record.children = self.children
        self.record.steps = steps.steps
        self.record.parts = steps.parts
        self.record.blob = <const uint8_t*>steps.blob
        return 0

    cdef int read(self, const uint8_t* end) noexcept nogil:
        cdef int reason
        self.record.at = self.at
        self.record.end = end
        self.record.depth = 0
        self.record.empty_left = EMPTY_ITEMS_MAX
        reason = _run(&self.record, 0)
        self.at = self.record.at
        return reason


def frame_ids(data, offsets, validity, Py_ssize_t first, Py_ssize_t rows):
    """The schema id of each record, as int64; -1 for null, -2 for what has no frame."""
    cdef BinaryColumn column = BinaryColumn(data, offsets, validity)
    cdef Memory ids
    cdef int64_t* out
    cdef Py_ssize_t row
    cdef int64_t start, end
    column.check(first, rows)
    ids = lent(malloc(max(rows, 1) * 8), rows * 8)
    out = <int64_t*>ids.data
    with nogil:
        for row in range(rows):
            start = column.offsets[first + row]
            end = column.offsets[first + row + 1]
            if is_null(column.validity, first + row):
                out[row] = -1
            elif not 0 <= start <= end - FRAME_BYTES or end > column.bytes or column.data[start] != 0:
                out[row] = -2
            else:
                out[row] = <uint32_t>load_int32(column.data + start + 1)
    return ids
