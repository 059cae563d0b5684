"""What the compiled decoder and encoder share: a plan in C, and access to slots."""

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int64_t

cdef enum Kind:  # ottla.protocol.struct_type.Kind
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
    PyObject *default  # borrowed: the program keeps it
    PyObject *nested  # borrowed: the Program of the struct, or of the array's elements


cdef class Program:
    cdef object struct
    cdef PyTypeObject *cls  # the same, for C
    cdef bint flexible
    cdef int wire_count, tagged_count, total
    cdef Py_ssize_t unknown_slot
    cdef Op *ops
    cdef list names  # of the fields, in the order of the operations
    cdef list kept


cdef Program program_of(object plan)
cdef object default_of(Op *op)


cdef inline PyObject *peek(object instance, Py_ssize_t slot) noexcept:
    """The value in a slot, borrowed; NULL if it was deleted."""
    return (<PyObject **>(<char *><PyObject *>instance + slot))[0]


cdef inline void put(object instance, Py_ssize_t slot, object value) noexcept:
    cdef PyObject **place = <PyObject **>(<char *><PyObject *>instance + slot)
    cdef PyObject *old = place[0]
    Py_INCREF(value)
    place[0] = <PyObject *>value
    Py_XDECREF(old)
