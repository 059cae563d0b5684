"""The compiled encoder: the slots of structs straight into bytes.

It refuses whatever is not exactly right by returning None, and never says why: `engine` then asks the plain writer.
Invariant: an instance's type is checked before its slots are touched.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport INT16_MAX, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memmove

from ottla.protocol.codec._program cimport (
    ARRAY, BOOL, FLOAT64, INT8, INT16, INT32, INT64, NEW_LIST, RECORDS, SHARED, STRING, STRUCT, UINT16, UINT32, UUID,
    Op, Program, peek, program_of,
)

cdef extern from "Python.h":
    int PyObject_TypeCheck(object value, PyTypeObject *cls)
    int PyLong_Check(object value)
    int PyUnicode_Check(object value)
    int PyBytes_Check(object value)
    int PyList_Check(object value)
    int PyTuple_Check(object value)
    int PyFloat_Check(object value)
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)
    PyObject *PySequence_Fast_GET_ITEM(object sequence, Py_ssize_t index)
    Py_ssize_t PyBytes_GET_SIZE(object value)
    int _PyBytes_Resize(PyObject **value, Py_ssize_t size) except -1
    long long PyLong_AsLongLongAndOverflow(object value, int *overflow) except? -1
    double PyFloat_AsDouble(object value) except? -1.0
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL


cdef class Refused(Exception):
    """Raised where a value does not fit and caught at the entry point; callers never see it."""


cdef inline object get(object instance, Py_ssize_t slot):
    cdef PyObject *value = peek(instance, slot)
    if value == NULL:
        raise Refused
    return <object>value


cdef class Output:
    """A byte string that grows, and the `records` values that are to stand between its pieces."""
    cdef PyObject *target  # owned bytes object
    cdef uint8_t *data
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity
    cdef list cuts  # (position, value) of each records value, or None to copy them in

    def __cinit__(self):
        self.capacity = 512
        self.target = new_bytes(self.capacity)
        self.data = <uint8_t *>PyBytes_AS_STRING(<object>self.target)

    def __dealloc__(self):
        Py_XDECREF(self.target)

    cdef int room(self, Py_ssize_t count) except -1:
        if count <= self.capacity - self.size:
            return 0
        self.capacity = max(self.capacity * 2, self.size + count)
        _PyBytes_Resize(&self.target, self.capacity)
        self.data = <uint8_t *>PyBytes_AS_STRING(<object>self.target)
        return 0

    cdef bytes finish(self):
        _PyBytes_Resize(&self.target, self.size)
        return <bytes>self.target


cdef PyObject *new_bytes(Py_ssize_t size) except NULL:
    value = PyBytes_FromStringAndSize(NULL, size)
    Py_INCREF(value)
    return <PyObject *>value


def encode(tuple parts):
    """The bytes of all parts in a row; None if the plain writer should look."""
    cdef Output out = Output()
    try:
        for plan, value in parts:
            write_struct(program_of(plan), value, out)
    except Refused:
        return None
    return out.finish()


def encode_around(tuple parts):
    """Like `encode`, cut around the `records` values; None if the plain writer should look."""
    cdef Output out = Output()
    cdef Py_ssize_t start = 0
    out.cuts = []
    try:
        for plan, value in parts:
            write_struct(program_of(plan), value, out)
    except Refused:
        return None
    whole = out.finish()
    pieces = []
    for position, value in out.cuts:
        if position > start:
            pieces.append(whole[start:position])
        pieces.append(value)
        start = position
    if start < len(whole) or not pieces:
        pieces.append(whole[start:])
    return pieces


cdef int write_struct(Program program, object instance, Output out) except -1:
    cdef int index
    cdef Op *op
    if not PyObject_TypeCheck(instance, program.cls):
        raise Refused
    for index in range(program.wire_count + program.tagged_count, program.total):
        op = &program.ops[index]
        if not op.ignorable and not is_default(op, get(instance, op.slot)):
            raise Refused
    for index in range(program.wire_count):
        op = &program.ops[index]
        write_field(op, get(instance, op.slot), out)
    if program.flexible:
        return write_tags(program, instance, out)
    if get(instance, program.unknown_slot) is not None:
        raise Refused
    return 0


cdef int write_field(Op *op, object value, Output out) except -1:
    cdef Py_ssize_t index, count
    if value is None:
        return write_null(op, out)
    if op.kind == ARRAY:
        if not (PyList_Check(value) or PyTuple_Check(value)):
            raise Refused
        count = PySequence_Fast_GET_SIZE(value)
        write_length(op.compact, 4, count, out)
        for index in range(count):
            # Asked anew each time, and held: writing an element may run Python code that changes the list.
            if index >= PySequence_Fast_GET_SIZE(value):
                raise Refused
            element = <object>PySequence_Fast_GET_ITEM(value, index)
            write_value(op.element, op, element, out)
        return 0
    if op.kind == STRUCT and op.nullable:
        write_byte(1, out)
    return write_value(op.kind, op, value, out)


cdef int write_null(Op *op, Output out) except -1:
    if not op.nullable:
        raise Refused
    if op.kind == STRUCT:
        return write_byte(0 if op.tagged else 0xFF, out)
    return write_length(op.compact, 2 if op.kind == STRING else 4, -1, out)


cdef int write_value(int kind, Op *op, object value, Output out) except -1:
    if kind == INT32:
        return write_big(checked(value, INT32_MIN, INT32_MAX), 4, out)
    if kind == STRING:
        return write_string(op, value, out)
    if kind == STRUCT:
        return write_struct(<Program>op.nested, value, out)
    if kind == INT16:
        return write_big(checked(value, -0x8000, 0x7FFF), 2, out)
    if kind == INT64:
        return write_big(checked(value, INT64_MIN, INT64_MAX), 8, out)
    if kind == BOOL:
        if not PyLong_Check(value):
            raise Refused
        return write_byte(1 if value else 0, out)
    if kind == INT8:
        return write_big(checked(value, -0x80, 0x7F), 1, out)
    if kind == UUID:
        if not PyBytes_Check(value) or PyBytes_GET_SIZE(value) != 16:
            raise Refused
        return write_raw(PyBytes_AS_STRING(value), 16, out)
    if kind == UINT16:
        return write_big(checked(value, 0, 0xFFFF), 2, out)
    if kind == UINT32:
        return write_big(checked(value, 0, 0xFFFFFFFF), 4, out)
    if kind == FLOAT64:
        return write_double(value, out)
    return write_bytes(op, value, out)


cdef inline int64_t checked(object value, int64_t lowest, int64_t highest) except? -1:
    cdef int overflow = 0
    cdef int64_t number
    if not PyLong_Check(value):
        raise Refused
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or number < lowest or number > highest:
        raise Refused
    return number


cdef int write_double(object value, Output out) except -1:
    cdef double number
    cdef uint64_t bits
    if not (PyFloat_Check(value) or PyLong_Check(value)):
        raise Refused
    try:
        number = PyFloat_AsDouble(value)
    except OverflowError:
        raise Refused
    memcpy(&bits, &number, 8)
    return write_big(<int64_t>bits, 8, out)


cdef int write_string(Op *op, object value, Output out) except -1:
    cdef Py_ssize_t size
    cdef const char *text
    if not PyUnicode_Check(value):
        raise Refused
    try:
        text = PyUnicode_AsUTF8AndSize(value, &size)
    except UnicodeEncodeError:
        raise Refused
    if size > INT16_MAX:
        raise Refused
    write_length(op.compact, 2, size, out)
    return write_raw(text, size, out)


cdef int write_bytes(Op *op, object value, Output out) except -1:
    cdef Py_buffer view
    if op.kind == RECORDS and out.cuts is not None and is_piece(value):
        write_length(op.compact, 4, value.nbytes if isinstance(value, memoryview) else len(value), out)
        out.cuts.append((out.size, value))
        return 0
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise Refused
    try:
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    except BufferError:
        raise Refused
    try:
        write_length(op.compact, 4, view.len, out)
        return write_raw(<const char *>view.buf, view.len, out)
    finally:
        PyBuffer_Release(&view)


cdef bint is_piece(object value) except -1:
    """Whether it can stand for itself between the bytes: a contiguous buffer, or a stretch of a file."""
    if isinstance(value, memoryview):
        return value.c_contiguous
    return isinstance(value, (bytes, bytearray)) or (hasattr(value, "fileno") and hasattr(value, "__len__"))


cdef int write_tags(Program program, object instance, Output out) except -1:
    cdef int index, count = 0
    cdef Op *op
    unknown = get(instance, program.unknown_slot)
    if unknown:
        # Rare enough to be left to the plain writer, which also sorts and checks the tags.
        raise Refused
    for index in range(program.wire_count, program.wire_count + program.tagged_count):
        op = &program.ops[index]
        if not is_default(op, get(instance, op.slot)):
            count += 1
    write_uvarint(count, out)
    if count == 0:
        return 0
    for index in range(program.wire_count, program.wire_count + program.tagged_count):
        op = &program.ops[index]
        if not is_default(op, get(instance, op.slot)):
            write_tag(op, get(instance, op.slot), out)
    return 0


cdef int write_tag(Op *op, object value, Output out) except -1:
    cdef Py_ssize_t start, size, extra
    write_uvarint(op.tag, out)
    write_byte(0, out)  # the size, for which one byte is enough nearly always
    start = out.size
    write_field(op, value, out)
    size = out.size - start
    extra = uvarint_size(size) - 1
    if extra:
        out.room(extra)
        memmove(out.data + start + extra, out.data + start, size)
    out.size = start - 1
    write_uvarint(size, out)
    out.size += size
    return 0


cdef bint is_default(Op *op, object value) except -1:
    if op.default_kind == SHARED:
        return <PyObject *>value == op.default or PyObject_RichCompareBool(value, <object>op.default, Py_EQ)
    if op.default_kind == NEW_LIST:
        return value is not None and not value
    return is_default_struct(<Program>op.nested, value)


cdef bint is_default_struct(Program program, object instance) except -1:
    cdef int index
    if not PyObject_TypeCheck(instance, program.cls):
        return False
    for index in range(program.total):
        if not is_default(&program.ops[index], get(instance, program.ops[index].slot)):
            return False
    return get(instance, program.unknown_slot) is None


cdef inline int write_byte(int value, Output out) except -1:
    out.room(1)
    out.data[out.size] = <uint8_t>value
    out.size += 1
    return 0


cdef inline int write_big(int64_t value, int width, Output out) except -1:
    cdef int index
    out.room(8)
    for index in range(width):
        out.data[out.size + index] = <uint8_t>(value >> (8 * (width - 1 - index)))
    out.size += width
    return 0


cdef inline int write_raw(const char *data, Py_ssize_t size, Output out) except -1:
    out.room(size)
    memcpy(out.data + out.size, data, size)
    out.size += size
    return 0


cdef inline int write_length(bint compact, int width, Py_ssize_t length, Output out) except -1:
    if length > INT32_MAX - 1:
        raise Refused
    if compact:
        return write_uvarint(length + 1, out)
    return write_big(length, width, out)


cdef inline int write_uvarint(uint64_t value, Output out) except -1:
    out.room(10)
    while value > 0x7F:
        out.data[out.size] = <uint8_t>(value & 0x7F | 0x80)
        out.size += 1
        value >>= 7
    out.data[out.size] = <uint8_t>value
    out.size += 1
    return 0


cdef inline int uvarint_size(uint64_t value) noexcept:
    cdef int size = 1
    while value > 0x7F:
        value >>= 7
        size += 1
    return size
