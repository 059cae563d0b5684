"""The compiled engine: decodes and encodes structs by their plans, straight between bytes and slots.

It refuses whatever is not exactly right by returning None, and never says why: `engine` then asks the plain twins.
Structs are slotted classes, so a field lives at a fixed offset of the instance; the engine reads and writes it there.
Invariants: nothing is read outside `[position, limit)`, an instance's type is checked before its slots are touched,
and no allocation is larger than the bytes at hand justify.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_FromLong, PyLong_FromLongLong, PyLong_FromUnsignedLong
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT16_MAX, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from ottla.base.ids import Uuid
from ottla.protocol.field import EMPTY_ARRAY, NEW_STRUCT

cdef extern from "Python.h":
    ctypedef struct PyMemberDef:
        Py_ssize_t offset
    ctypedef struct PyMemberDescrObject:
        PyMemberDef *d_member
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)
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
    void PyErr_Clear()

cdef enum Kind:  # ottla.protocol.field.Kind
    BOOL, INT8, INT16, INT32, INT64, UINT16, UINT32, FLOAT64, UUID, STRING, BYTES, RECORDS, STRUCT, ARRAY

cdef enum DefaultKind:
    SHARED, NEW_LIST, NEW_DEFAULT_STRUCT

cdef struct Op:
    int kind
    int element  # the kind of an array's elements
    bint nullable
    bint compact
    bint ignorable
    bint tagged
    int default_kind
    int64_t tag
    Py_ssize_t slot
    PyObject *default  # borrowed: the plan keeps it
    PyObject *nested  # borrowed: the Program of the struct, or of the array's elements


cdef class Refused(Exception):
    """Travels from the place of the doubt to the entry point; nobody outside sees it."""


cdef class Program:
    """A plan in C: all fields of the struct, first those of the wire, then the tagged, then the absent ones."""
    cdef object struct
    cdef PyTypeObject *cls  # the same, for C
    cdef bint flexible
    cdef int wire_count, tagged_count, total
    cdef Py_ssize_t unknown_slot
    cdef Op *ops
    cdef list kept

    def __dealloc__(self):
        PyMem_Free(self.ops)


cdef Py_ssize_t slot_of(object struct, str name) except -1:
    descriptor = getattr(struct, name)
    return (<PyMemberDescrObject *><PyObject *>descriptor).d_member.offset


cdef Program program_of(object plan):
    if plan.compiled is None:
        plan.compiled = build(plan)
    return <Program>plan.compiled


cdef Program build(object plan):
    cdef Program program = Program()
    cdef int index = 0
    everything = plan.fields + plan.tagged + plan.absent
    program.struct = plan.struct
    program.cls = <PyTypeObject *><PyObject *>program.struct
    program.flexible = plan.flexible
    program.wire_count = len(plan.fields)
    program.tagged_count = len(plan.tagged)
    program.total = len(everything)
    program.unknown_slot = slot_of(plan.struct, "unknown_tags")
    program.kept = []
    program.ops = <Op *>PyMem_Malloc((program.total + 1) * sizeof(Op))
    if program.ops == NULL:
        raise MemoryError
    for planned in everything:
        fill(program, &program.ops[index], planned)
        index += 1
    return program


cdef int fill(Program program, Op *op, object planned) except -1:
    field = planned.field
    nested = planned.nested if planned.element is None else planned.element.nested
    op.kind = planned.kind
    op.element = -1 if planned.element is None else planned.element.kind
    op.nullable = planned.nullable
    op.compact = planned.compact
    op.ignorable = field.ignorable
    op.tagged = planned.tagged
    op.tag = -1 if field.tag is None else field.tag
    op.slot = slot_of(program.struct, field.name)
    default = field.default
    op.default_kind = NEW_LIST if default is EMPTY_ARRAY else NEW_DEFAULT_STRUCT if default is NEW_STRUCT else SHARED
    op.default = <PyObject *>default
    program.kept.append(default)
    op.nested = NULL
    if nested is not None:
        child = program_of(nested)
        program.kept.append(child)
        op.nested = <PyObject *>child
    return 0


cdef inline object get(object instance, Py_ssize_t slot):
    cdef PyObject *value = (<PyObject **>(<char *><PyObject *>instance + slot))[0]
    if value == NULL:
        raise Refused
    return <object>value


cdef inline void put(object instance, Py_ssize_t slot, object value) noexcept:
    cdef PyObject **place = <PyObject **>(<char *><PyObject *>instance + slot)
    cdef PyObject *old = place[0]
    Py_INCREF(value)
    place[0] = <PyObject *>value
    Py_XDECREF(old)


cdef inline object default_of(Op *op):
    if op.default_kind == SHARED:
        return <object>op.default
    if op.default_kind == NEW_LIST:
        return []
    return default_struct(<Program>op.nested)


cdef object default_struct(Program program):
    cdef int index
    instance = PyType_GenericAlloc(program.cls, 0)
    for index in range(program.total):
        put(instance, program.ops[index].slot, default_of(&program.ops[index]))
    put(instance, program.unknown_slot, None)
    return instance


# --- Decoding ---------------------------------------------------------------------------------------------------------

cdef struct Input:
    const uint8_t *data
    Py_ssize_t position
    Py_ssize_t limit
    PyObject *buffer  # borrowed: what `records` fields become views of


def decode(plan, buffer, Py_ssize_t position):
    """The struct at `position` and the position behind it; None if the plain reader should look."""
    cdef Py_buffer view
    cdef Input source
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    try:
        if position < 0 or position > view.len:
            return None
        source.data = <const uint8_t *>view.buf
        source.position = position
        source.limit = view.len
        source.buffer = <PyObject *>buffer
        value = read_struct(program_of(plan), &source)
        return value, source.position
    except Refused:
        return None
    finally:
        PyBuffer_Release(&view)


cdef object read_struct(Program program, Input *source):
    cdef int index
    cdef Op *op
    instance = PyType_GenericAlloc(program.cls, 0)
    for index in range(program.wire_count):
        op = &program.ops[index]
        put(instance, op.slot, read_field(op, source))
    for index in range(program.wire_count, program.total):
        op = &program.ops[index]
        put(instance, op.slot, default_of(op))
    put(instance, program.unknown_slot, read_tags(program, instance, source) if program.flexible else None)
    return instance


cdef object read_field(Op *op, Input *source):
    if op.kind == ARRAY:
        return read_array(op, source)
    if op.kind == STRUCT and op.nullable and reads_null(op, source):
        return None
    return read_value(op.kind, op, source)


cdef inline bint reads_null(Op *op, Input *source) except -1:
    cdef int marker = read_byte(source)
    return marker == 0 if op.tagged else marker > 0x7F


cdef object read_value(int kind, Op *op, Input *source):
    if kind == INT32:
        return PyLong_FromLong(<int32_t>big32(source))
    if kind == STRING:
        return read_string(op.compact, op.nullable and op.kind == STRING, source)
    if kind == STRUCT:
        return read_struct(<Program>op.nested, source)
    if kind == INT16:
        return PyLong_FromLong(<int16_t>big16(source))
    if kind == INT64:
        return PyLong_FromLongLong(<int64_t>big64(source))
    if kind == BOOL:
        return True if read_byte(source) else False
    if kind == INT8:
        return PyLong_FromLong(<int8_t>read_byte(source))
    if kind == UUID:
        need(source, 16)
        value = Uuid(PyBytes_FromStringAndSize(<const char *>source.data + source.position, 16))
        source.position += 16
        return value
    if kind == UINT16:
        return PyLong_FromLong(big16(source))
    if kind == UINT32:
        return PyLong_FromUnsignedLong(big32(source))
    if kind == FLOAT64:
        return as_double(big64(source))
    return read_bytes(op, source)


cdef object read_string(bint compact, bint nullable, Input *source):
    cdef Py_ssize_t length = read_uvarint(source) - 1 if compact else <int16_t>big16(source)
    if length < 0:
        return null_or_refuse(length, nullable)
    if length > INT16_MAX:
        raise Refused
    need(source, length)
    try:
        text = PyUnicode_DecodeUTF8(<const char *>source.data + source.position, length, NULL)
    except UnicodeDecodeError:
        raise Refused
    source.position += length
    return text


cdef object read_bytes(Op *op, Input *source):
    cdef Py_ssize_t length = read_uvarint(source) - 1 if op.compact else <int32_t>big32(source)
    if length < 0:
        return null_or_refuse(length, op.nullable)
    need(source, length)
    if op.kind == RECORDS:
        value = memoryview(<object>source.buffer)[source.position : source.position + length]
    else:
        value = PyBytes_FromStringAndSize(<const char *>source.data + source.position, length)
    source.position += length
    return value


cdef object read_array(Op *op, Input *source):
    cdef Py_ssize_t count = read_uvarint(source) - 1 if op.compact else <int32_t>big32(source)
    cdef Py_ssize_t index
    if count < 0:
        return null_or_refuse(count, op.nullable)
    if count > source.limit - source.position:
        raise Refused
    values = PyList_New(count)
    for index in range(count):
        value = read_value(op.element, op, source)
        Py_INCREF(value)
        PyList_SET_ITEM(values, index, value)
    return values


cdef object read_tags(Program program, object instance, Input *source):
    cdef int64_t count = read_uvarint(source)
    cdef int64_t tag, last = -1
    cdef Py_ssize_t size, start
    cdef int index
    unknown = None
    for _ in range(count):
        tag = read_uvarint(source)
        size = read_uvarint(source)
        need(source, size)
        if tag <= last:
            raise Refused
        last = tag
        start = source.position
        for index in range(program.wire_count, program.wire_count + program.tagged_count):
            if program.ops[index].tag == tag:
                put(instance, program.ops[index].slot, read_field(&program.ops[index], source))
                break
        else:
            if unknown is None:
                unknown = {}
            unknown[tag] = PyBytes_FromStringAndSize(<const char *>source.data + start, size)
            source.position += size
        if source.position != start + size:
            raise Refused
    return unknown


cdef inline object null_or_refuse(Py_ssize_t length, bint nullable):
    if length != -1 or not nullable:
        raise Refused
    return None


cdef inline int need(Input *source, Py_ssize_t count) except -1:
    if count > source.limit - source.position:
        raise Refused
    return 0


cdef inline int read_byte(Input *source) except -1:
    need(source, 1)
    source.position += 1
    return source.data[source.position - 1]


cdef inline uint16_t big16(Input *source) except? 0xFFFF:
    cdef const uint8_t *at = source.data + source.position
    need(source, 2)
    source.position += 2
    return <uint16_t>((at[0] << 8) | at[1])


cdef inline uint32_t big32(Input *source) except? 0xFFFFFFFF:
    cdef const uint8_t *at = source.data + source.position
    need(source, 4)
    source.position += 4
    return (<uint32_t>at[0] << 24) | (<uint32_t>at[1] << 16) | (<uint32_t>at[2] << 8) | at[3]


cdef inline uint64_t big64(Input *source) except? 0xFFFFFFFFFFFFFFFF:
    cdef uint64_t high = big32(source)
    return (high << 32) | big32(source)


cdef inline double as_double(uint64_t bits) noexcept:
    cdef double value
    memcpy(&value, &bits, 8)
    return value


cdef inline Py_ssize_t read_uvarint(Input *source) except -1:
    cdef uint64_t value = read_byte(source)
    cdef uint64_t byte
    cdef int shift = 7
    if value < 0x80:
        return <Py_ssize_t>value
    value &= 0x7F
    while True:
        byte = read_byte(source)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise Refused
    if value > INT32_MAX:
        raise Refused
    return <Py_ssize_t>value


# --- Encoding ---------------------------------------------------------------------------------------------------------

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
    """The same, cut around the `records` values; None if the plain writer should look."""
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
        write_tags(program, instance, out)
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
            # Asked anew each time: writing an element may run Python code that shortens the list.
            if index >= PySequence_Fast_GET_SIZE(value):
                raise Refused
            write_value(op.element, op, <object>PySequence_Fast_GET_ITEM(value, index), out)
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
    if op.kind == RECORDS and out.cuts is not None:
        write_length(op.compact, 4, value.nbytes if isinstance(value, memoryview) else len(value), out)
        out.cuts.append((out.size, value))
        return 0
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise Refused
    PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    try:
        write_length(op.compact, 4, view.len, out)
        return write_raw(<const char *>view.buf, view.len, out)
    finally:
        PyBuffer_Release(&view)


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
