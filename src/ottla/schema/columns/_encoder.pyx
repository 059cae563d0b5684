"""The compiled loop from Arrow arrays to encoded records; `encoder_plain` is the twin to read first.

Buffers are held to the lengths that their arrays claim before the loop; offsets are checked where they are followed.
The loop does not hold the GIL.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cython cimport final
from libc.stdint cimport INT32_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from ottla.schema.columns._column cimport filled
from ottla.schema.columns._out cimport (
    is_json, put, put_brackets, put_byte, put_decimal, put_json_string, put_number, put_size, put_unsigned,
)
from ottla.schema.columns._slot cimport (
    BIT, BYTES, FIXED, LIST, NO_MEMORY, Slot, open_row, push_null, release,
)
from ottla.schema.columns.json._text cimport NOT_JSON

from ottla.schema.columns import layout

cdef enum:
    # Of `source.Write`.
    W_NOTHING = 0
    W_BOOLEAN = 1
    W_INT = 2
    W_LONG = 3
    W_FIXED = 4
    W_BYTES = 5
    W_SYMBOL = 6
    W_DECIMAL = 7
    W_RECORD = 8
    W_ARRAY = 9
    W_OPTION = 10
    W_MEMBERS = 11
    W_CONSTANT = 12
    W_PRESENT = 13
    W_NONZERO = 14
    W_REPEATED = 15
    W_PACKED = 16
    W_SIZED = 17
    W_VARINT = 18
    W_UNSIGNED = 19
    W_TEXT = 20
    W_ENUM = 21
    W_JSON_OBJECT = 22
    W_JSON_LIST = 23
    W_JSON_MAP = 24
    W_JSON_STRING = 25
    W_JSON_RAW = 26
    W_JSON_TEXT = 27
    W_JSON_OPTION = 28
    W_JSON_MEMBER = 29
    # Of `layout.Code`.
    ENDS_EARLY = 1
    NULL_VALUE = 11
    NO_SUCH_SYMBOL = 12
    WRONG_MEMBERS = 13


cdef struct Source:
    int kind
    Py_ssize_t width
    Py_ssize_t first
    Py_ssize_t rows
    Py_ssize_t bytes
    const uint8_t* validity
    const int32_t* offsets
    const uint8_t* data


cdef struct Step:
    int op
    int source
    int64_t a
    int64_t b
    int first
    int parts


cdef struct Writing:
    const Source* sources
    const Step* steps
    const int32_t* parts
    const uint8_t* blob
    Slot* out
    int failed_source


cdef inline bint _is_null(const Source* source, Py_ssize_t row) noexcept nogil:
    row += source.first
    return source.validity != NULL and not (source.validity[row >> 3] >> (row & 7)) & 1


cdef int _leaf(Writing* writing, const Step* step, Py_ssize_t row) noexcept nogil:
    cdef const Source* source = &writing.sources[step.source]
    cdef Slot* out = writing.out
    cdef const uint8_t* cell
    cdef int32_t small
    cdef int64_t large
    cdef uint8_t bit
    cdef int op = step.op
    row += source.first
    if op == W_BOOLEAN:
        bit = (source.data[row >> 3] >> (row & 7)) & 1
        return put(out, &bit, 1)
    if op == W_BYTES or op == W_TEXT or op >= W_JSON_STRING:
        if not 0 <= source.offsets[row] <= source.offsets[row + 1] <= source.bytes:
            return ENDS_EARLY
        small = source.offsets[row + 1] - source.offsets[row]
        cell = source.data + source.offsets[row]
        if op == W_BYTES:
            return put_number(out, small) or put(out, cell, small)
        if op == W_TEXT:
            return put_unsigned(out, small) or put(out, cell, small)
        if op == W_JSON_STRING:
            return put_json_string(out, cell, small)
        if op == W_JSON_TEXT and not is_json(cell, small):
            return NOT_JSON
        return put(out, cell, small)
    cell = source.data + row * source.width
    if op == W_FIXED:
        return put(out, cell, source.width)
    if op == W_DECIMAL:
        return put_decimal(out, cell, source.width, step.a)
    if source.width == 8:
        memcpy(&large, cell, 8)
        if op == W_LONG:
            return put_number(out, large)
        if op == W_ENUM and large < INT32_MIN:
            return NO_SUCH_SYMBOL
        return put_unsigned(out, <uint64_t>large)
    memcpy(&small, cell, 4)
    if op == W_VARINT:
        return put_unsigned(out, <uint64_t><int64_t>small)
    if op == W_UNSIGNED:
        return put_unsigned(out, <uint32_t>small)
    if op == W_SYMBOL and small < 0:
        return NO_SUCH_SYMBOL
    return put_number(out, small)


cdef int _list(Writing* writing, const Step* step, Py_ssize_t row) noexcept nogil:
    cdef const Source* source = &writing.sources[step.source]
    cdef const int32_t* ends = source.offsets + source.first + row
    cdef Py_ssize_t item
    cdef int part, reason
    cdef uint8_t zero = 0
    if not 0 <= ends[0] <= ends[1] <= writing.sources[step.a].rows:
        writing.failed_source = step.source
        return ENDS_EARLY
    if ends[1] > ends[0]:
        reason = put_number(writing.out, ends[1] - ends[0])
        if reason:
            return reason
        for item in range(ends[0], ends[1]):
            for part in range(step.parts):
                reason = _run(writing, writing.parts[step.first + part], item)
                if reason:
                    return reason
    return put(writing.out, &zero, 1)


cdef int _union(Writing* writing, const Step* step, Py_ssize_t row) noexcept nogil:
    cdef const Step* part
    cdef int index, reason, chosen = -1
    if _is_null(&writing.sources[step.source], row):
        if step.a < 0:
            writing.failed_source = step.source
            return NULL_VALUE
        return put_number(writing.out, step.a)
    if step.op == W_OPTION:
        reason = put_number(writing.out, step.b)
        return reason or _run(writing, writing.parts[step.first], row)
    for index in range(step.parts):
        part = &writing.steps[writing.parts[step.first + index]]
        if not _is_null(&writing.sources[part.source], row):
            if chosen >= 0:
                chosen = -1
                break
            chosen = index
    if chosen < 0:
        writing.failed_source = step.source
        return WRONG_MEMBERS
    return _run(writing, writing.parts[step.first + chosen], row)


cdef int _parts(Writing* writing, const Step* step, Py_ssize_t row) noexcept nogil:
    cdef int part, reason
    for part in range(step.parts):
        reason = _run(writing, writing.parts[step.first + part], row)
        if reason:
            return reason
    return 0


cdef bint _is_zero(const Source* source, Py_ssize_t row) noexcept nogil:
    cdef const uint8_t* cell
    cdef Py_ssize_t index
    row += source.first
    if source.kind == BIT:
        return not (source.data[row >> 3] >> (row & 7)) & 1
    if source.kind == BYTES:
        return source.offsets[row] == source.offsets[row + 1]
    cell = source.data + row * source.width
    for index in range(source.width):
        if cell[index]:
            return False
    return True


cdef int _items(Writing* writing, const Step* step, Py_ssize_t row) noexcept nogil:
    """Protobuf's repeated fields, and JSON's lists and maps."""
    cdef const Source* source = &writing.sources[step.source]
    cdef const int32_t* ends = source.offsets + source.first + row
    cdef Slot* out = writing.out
    cdef Py_ssize_t item, start
    cdef int reason = 0, op = step.op
    if not 0 <= ends[0] <= ends[1] <= writing.sources[step.a].rows:
        writing.failed_source = step.source
        return ENDS_EARLY
    if op == W_PACKED:
        if ends[0] == ends[1]:
            return 0
        reason = _run(writing, writing.parts[step.first], row)
    start = out.bytes
    for item in range(ends[0], ends[1]):
        if op == W_REPEATED:
            reason = reason or _parts(writing, step, item)
        elif op == W_PACKED:
            reason = reason or _run(writing, writing.parts[step.first + 1], item)
        else:
            reason = reason or put_byte(out, 44) or _run(writing, writing.parts[step.first], item)
            if op == W_JSON_MAP:
                reason = reason or put_byte(out, 58) or _run(writing, writing.parts[step.first + 1], item)
        if reason:
            return reason
    if op == W_PACKED:
        return put_size(out, start)
    if op == W_REPEATED:
        return 0
    return put_brackets(out, start, 123 if op == W_JSON_MAP else 91)


cdef int _run_more(Writing* writing, const Step* step, Py_ssize_t row) noexcept nogil:
    """The steps of Protobuf and JSON that run others."""
    cdef const Source* source = &writing.sources[step.source]
    cdef Py_ssize_t start = writing.out.bytes
    cdef int reason, op = step.op
    if _is_null(source, row):
        if op == W_JSON_OPTION:
            return put(writing.out, <const uint8_t*>"null", 4)
        if op == W_SIZED or op >= W_JSON_OBJECT:
            writing.failed_source = step.source
            return NULL_VALUE
        return 0
    if op == W_PRESENT or op == W_JSON_OPTION:
        return _parts(writing, step, row)
    if op == W_NONZERO:
        return 0 if _is_zero(source, row) else _parts(writing, step, row)
    if op == W_SIZED:
        reason = _parts(writing, step, row)
        return reason or put_size(writing.out, start)
    if op == W_JSON_OBJECT:
        reason = _parts(writing, step, row)
        return reason or put_brackets(writing.out, start, 123)
    return _items(writing, step, row)


cdef int _run(Writing* writing, int number, Py_ssize_t row) noexcept nogil:
    """One step; 0, or why the row can't be written."""
    cdef const Step* step = &writing.steps[number]
    cdef int reason, op = step.op
    if op == W_JSON_MEMBER:
        return _parts(writing, step, row)
    if W_PRESENT <= op <= W_SIZED or W_JSON_OBJECT <= op <= W_JSON_MAP or op == W_JSON_OPTION:
        return _run_more(writing, step, row)
    if op == W_OPTION or op == W_MEMBERS:
        return _union(writing, step, row)
    if op == W_NOTHING:
        return 0
    if op == W_CONSTANT:
        return put(writing.out, writing.blob + step.a, step.b)
    if _is_null(&writing.sources[step.source], row):
        writing.failed_source = step.source
        return NULL_VALUE
    if op == W_RECORD:
        return _parts(writing, step, row)
    if op == W_ARRAY:
        return _list(writing, step, row)
    reason = _leaf(writing, step, row)
    if reason:
        writing.failed_source = step.source
    return reason


_LISTS = frozenset({W_ARRAY, W_REPEATED, W_PACKED, W_JSON_LIST, W_JSON_MAP})


@final
cdef class _Plan:
    """Sources and steps as C sees them; holds the buffers."""

    cdef Source* sources
    cdef Step* steps
    cdef int32_t* parts
    cdef Py_buffer* views
    cdef int view_count

    def __cinit__(self, sources, steps):
        cdef int at = 0, index
        cdef int total = sum(len(step.parts) for step in steps)
        self.sources = <Source*>calloc(max(len(sources), 1), sizeof(Source))
        self.steps = <Step*>calloc(max(len(steps), 1), sizeof(Step))
        self.parts = <int32_t*>calloc(max(total, 1), sizeof(int32_t))
        self.views = <Py_buffer*>calloc(max(3 * len(sources), 1), sizeof(Py_buffer))
        if self.sources == NULL or self.steps == NULL or self.parts == NULL or self.views == NULL:
            raise MemoryError
        for index, source in enumerate(sources):
            self._add(&self.sources[index], source)
        for index, step in enumerate(steps):
            if not 0 <= step.source < len(sources) or (step.op in _LISTS and not 0 <= step.a < len(sources)):
                raise ValueError("a step has no source")
            self.steps[index] = Step(step.op, step.source, step.a, step.b, at, len(step.parts))
            for part in step.parts:
                if not index < part < len(steps):
                    raise ValueError("a step has no such part")
                self.parts[at] = part
                at += 1

    def __dealloc__(self):
        cdef int index
        for index in range(self.view_count):
            PyBuffer_Release(&self.views[index])
        free(self.sources)
        free(self.steps)
        free(self.parts)
        free(self.views)

    cdef Py_buffer* _view(self, data) except NULL:
        cdef Py_buffer* view = &self.views[self.view_count]
        PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
        self.view_count += 1
        return view

    cdef int _add(self, Source* out, source) except -1:
        cdef Py_ssize_t last = source.first + source.rows
        cdef Py_buffer* view
        cdef bint is_whole = source.first >= 0 and source.rows >= 0
        out.kind = source.kind
        out.width = source.width
        out.first = source.first
        out.rows = source.rows
        if source.validity is not None:
            view = self._view(source.validity)
            out.validity = <const uint8_t*>view.buf
            is_whole = is_whole and (last + 7) // 8 <= view.len
        if source.kind == BYTES or source.kind == LIST:
            view = self._view(b"" if source.offsets is None else source.offsets)
            out.offsets = <const int32_t*>view.buf
            is_whole = is_whole and (source.rows == 0 or (last + 1) * 4 <= view.len)
        if source.kind == BYTES or source.kind == FIXED or source.kind == BIT:
            view = self._view(b"" if source.data is None else source.data)
            out.data = <const uint8_t*>view.buf
            out.bytes = view.len
            if source.kind == FIXED:
                is_whole = is_whole and last * source.width <= view.len
            elif source.kind == BIT:
                is_whole = is_whole and (last + 7) // 8 <= view.len
        if not is_whole and source.rows:
            raise ValueError("an array's buffers are shorter than the array")
        return 0


def encode_rows(sources, steps, bytes blob, bytes prefix):
    """A record for each row of source 0; see the twin."""
    cdef _Plan plan = _Plan(sources, steps)
    cdef Slot out
    cdef Writing writing
    cdef Py_ssize_t row = 0, rows = plan.sources[0].rows, start
    cdef const uint8_t* head = prefix
    cdef Py_ssize_t head_bytes = len(prefix)
    cdef int reason = 0
    cdef list flaws = []
    memset(&out, 0, sizeof(Slot))
    out.kind = BYTES
    writing = Writing(plan.sources, plan.steps, plan.parts, <const uint8_t*>blob, &out, 0)
    try:
        while row < rows:
            with nogil:
                while row < rows:
                    if _is_null(&plan.sources[0], row):
                        reason = push_null(&out, NULL, 0)
                        if reason:
                            break
                        row += 1
                        continue
                    start = out.bytes
                    writing.failed_source = 0
                    reason = open_row(&out) or put(&out, head, head_bytes) or _run(&writing, 0, row)
                    if reason:
                        out.bytes = start
                        if push_null(&out, NULL, 0):
                            reason = NO_MEMORY
                        break
                    out.rows += 1
                    out.offsets[out.rows] = <int32_t>out.bytes
                    row += 1
            if reason == NO_MEMORY:
                raise MemoryError
            if reason:
                flaws.append(layout.Flaw(row, reason, writing.failed_source))
                reason = 0
                row += 1
        return filled(&out), flaws
    finally:
        release(&out)
