"""Where the bytes of a buffer lie, for the compiled views that outlive one call.

They keep a memoryview of their own and read its buffer in place. Asking that memoryview for another buffer would count
as a use of it, and a collector that clears a cycle with such a view in it would find a memoryview still in use.
"""

from cpython.memoryview cimport PyMemoryView_GET_BUFFER


cdef inline bint is_contiguous(object memory) noexcept:
    """Whether a memoryview holds plain bytes, one after another; if not, `memory.contiguous` makes or refuses one."""
    cdef Py_buffer* view = PyMemoryView_GET_BUFFER(memory)
    return view.ndim == 1 and view.itemsize == 1 and view.strides[0] == 1 and (
        view.format == NULL or (view.format[0] == c"B" and view.format[1] == 0)
    )
