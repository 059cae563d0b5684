"""A plan in C: all fields of a struct, first those of the wire, then the tagged, then the absent ones.

Structs are slotted classes, so a field lives at a fixed offset of its instance. The decoder and the encoder read and
write it there, after they have checked the instance's type.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject, PyTypeObject

from ottla.protocol.struct_type import EMPTY_ARRAY, NEW_STRUCT

cdef extern from "Python.h":
    ctypedef struct PyMemberDef:
        Py_ssize_t offset
    ctypedef struct PyMemberDescrObject:
        PyMemberDef *d_member
    object PyType_GenericAlloc(PyTypeObject *cls, Py_ssize_t items)


cdef class Program:
    """One struct in one version, as C sees it; it keeps alive what its operations point to."""

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
    program.names = [planned.name for planned in everything]
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


cdef object default_of(Op *op):
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
