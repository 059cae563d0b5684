"""Any buffer as plain bytes, one after another, which is all that the records are read from."""

from ottla.base.buffer import Buffer


def contiguous(buffer: Buffer) -> memoryview:
    """The buffer's bytes in place, whatever items it has; `BufferError` if they do not lie one after another."""
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise BufferError("not contiguous bytes")
    return view if view.ndim == 1 and view.format == "B" else view.cast("B")
