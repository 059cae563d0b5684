"""Where the bytes of a buffer lie, for the compiled views that outlive one call.

They keep a memoryview of their own and read its buffer in place. Asking that memoryview for another buffer would count
as a use of it, and a collector that clears a cycle with such a view in it would find a memoryview still in use.
"""

from cpython.memoryview cimport PyMemoryView_GET_BUFFER


cdef inline Py_buffer* contiguous(object memory) except NULL:
    """The buffer of a memoryview that holds plain bytes, one after another."""
    cdef Py_buffer* view = PyMemoryView_GET_BUFFER(memory)
    if view.ndim != 1 or view.itemsize != 1 or (view.strides != NULL and view.strides[0] != 1 and view.len > 1):
        raise BufferError("not contiguous bytes")
    return view
