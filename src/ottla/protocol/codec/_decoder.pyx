"""The compiled decoder: bytes straight into the slots of structs.

It knows where it refused, but not why: `engine` asks the plain reader for that. With `tolerant` it accepts what
`codec.tolerant` accepts. Invariants: nothing is read outside `[position, limit)`, and no more is allocated than the
bytes at hand justify.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_FromLong, PyLong_FromLongLong, PyLong_FromUnsignedLong
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT16_MAX, INT32_MAX, INT64_MAX
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ottla.protocol.codec._program cimport (
    ARRAY, BOOL, FLOAT64, INT8, INT16, INT32, INT64, RECORDS, STRING, STRUCT, UINT16, UINT32, UUID,
    Op, Program, default_of, program_of, put,
)

from ottla.base.ids import Uuid
from ottla.protocol.errors import DecodeError

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)


cdef class Refused(Exception):
    """Travels from the place of the doubt to the entry point; never seen outside."""


cdef enum:
    DEPTH_MAX = 16  # structs within structs; Kafka's deepest message has five
    IN_TAGS = -1
    ELEMENTS_MAX = 1_000_000  # see `tolerant.ELEMENTS_MAX`

cdef struct Step:
    PyObject *program  # borrowed: the struct being read
    int field  # its field, or IN_TAGS
    Py_ssize_t element  # of that field, if it is an array; else -1

cdef struct Input:
    const uint8_t *data
    Py_ssize_t position
    Py_ssize_t limit
    PyObject *buffer  # borrowed: what `records` fields are slices of
    bint tolerant
    Py_ssize_t elements_left
    int depth
    Step trail[DEPTH_MAX]  # where the reader is, so that a refusal can name the place


def decode(plan, buffer, Py_ssize_t position, *, bint tolerant, Py_ssize_t elements_max=ELEMENTS_MAX):
    """The struct at `position` and the position behind it, or a `DecodeError` that says where but not why."""
    cdef Py_buffer view
    cdef Input source
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    try:
        if position < 0 or position > view.len:
            return DecodeError("outside of the bytes at hand", plan.struct.__name__, position)
        source.data = <const uint8_t *>view.buf
        source.position = position
        source.limit = view.len
        source.buffer = <PyObject *>buffer
        source.tolerant = tolerant
        source.elements_left = elements_max if tolerant else INT64_MAX
        source.depth = 0
        value = read_struct(program_of(plan), &source)
        return value, source.position
    except Refused:
        return DecodeError("malformed from here on", plan.struct.__name__ + path_of(&source), source.position)
    finally:
        PyBuffer_Release(&view)


cdef str path_of(Input *source):
    cdef Step *step
    cdef int level
    path = ""
    for level in range(source.depth):
        step = &source.trail[level]
        path += ".<tags>" if step.field == IN_TAGS else "." + (<Program>step.program).names[step.field]
        if step.element >= 0:
            path += f"[{step.element}]"
    return path


cdef object read_struct(Program program, Input *source):
    cdef int index
    cdef Op *op
    cdef Step *step
    if source.depth == DEPTH_MAX:
        raise Refused
    step = &source.trail[source.depth]
    step.program = <PyObject *>program
    step.element = -1
    source.depth += 1
    instance = PyType_GenericAlloc(program.cls, 0)
    for index in range(program.wire_count):
        step.field = index
        op = &program.ops[index]
        put(instance, op.slot, read_field(op, source))
    step.field = IN_TAGS
    for index in range(program.wire_count, program.total):
        op = &program.ops[index]
        put(instance, op.slot, default_of(op))
    put(instance, program.unknown_slot, read_tags(program, instance, source) if program.flexible else None)
    source.depth -= 1
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
    cdef const char *handling = "replace" if source.tolerant else "strict"
    if length < 0:
        return null_or_refuse(length, nullable, source)
    if length > INT16_MAX:
        raise Refused
    need(source, length)
    try:
        text = PyUnicode_DecodeUTF8(<const char *>source.data + source.position, length, handling)
    except UnicodeDecodeError:
        raise Refused
    source.position += length
    return text


cdef object read_bytes(Op *op, Input *source):
    cdef Py_ssize_t length = read_uvarint(source) - 1 if op.compact else <int32_t>big32(source)
    if length < 0:
        return null_or_refuse(length, op.nullable, source)
    need(source, length)
    if op.kind == RECORDS:
        value = as_bytes_view(<object>source.buffer)[source.position : source.position + length]
    else:
        value = PyBytes_FromStringAndSize(<const char *>source.data + source.position, length)
    source.position += length
    return value


cdef object as_bytes_view(object buffer):
    view = memoryview(buffer)
    return view if view.itemsize == 1 else view.cast("B")


cdef object read_array(Op *op, Input *source):
    cdef Py_ssize_t count = read_uvarint(source) - 1 if op.compact else <int32_t>big32(source)
    cdef Py_ssize_t index
    cdef Step *step = &source.trail[source.depth - 1]
    if count < 0:
        return null_or_refuse(count, op.nullable, source)
    if count > source.limit - source.position:
        raise Refused
    spend(source, count)
    values = PyList_New(count)
    for index in range(count):
        step.element = index
        value = read_value(op.element, op, source)
        Py_INCREF(value)
        PyList_SET_ITEM(values, index, value)
    step.element = -1
    return values


cdef object read_tags(Program program, object instance, Input *source):
    cdef int64_t count = read_uvarint(source)
    cdef int64_t tag, last = -1
    cdef Py_ssize_t size, start
    cdef int index
    cdef Step *step = &source.trail[source.depth - 1]
    unknown = None
    if count > 0:
        spend(source, count)
    for _ in range(count):
        step.field = IN_TAGS
        tag = read_uvarint(source)
        size = read_uvarint(source)
        if tag <= last and not source.tolerant:
            raise Refused
        last = tag
        start = source.position
        for index in range(program.wire_count, program.wire_count + program.tagged_count):
            if program.ops[index].tag == tag:
                step.field = index
                put(instance, program.ops[index].slot, read_field(&program.ops[index], source))
                break
        else:
            need(source, size)
            if unknown is None:
                unknown = {}
            unknown[tag] = PyBytes_FromStringAndSize(<const char *>source.data + start, size)
            source.position += size
        if source.position != start + size and not source.tolerant:
            raise Refused
    return unknown


cdef inline object null_or_refuse(Py_ssize_t length, bint nullable, Input *source):
    if not nullable or (length != -1 and not source.tolerant):
        raise Refused
    return None


cdef inline int need(Input *source, Py_ssize_t count) except -1:
    if count < 0 or count > source.limit - source.position:
        raise Refused
    return 0


cdef inline int spend(Input *source, Py_ssize_t count) except -1:
    source.elements_left -= count
    if source.elements_left < 0:
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


cdef inline Py_ssize_t read_uvarint(Input *source) except? -1:
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
        if not source.tolerant:
            raise Refused
        return <int32_t>value  # Java keeps the low 32 bits and takes them as signed
    return <Py_ssize_t>value
