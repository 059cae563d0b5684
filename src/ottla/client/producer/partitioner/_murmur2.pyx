"""The partitions of keys, one or a whole column at a time, compiled; `murmur2_plain` documents them."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t

from ottla.client.producer.partitioner._murmur2 cimport murmur2_of, partition_of

from ottla.protocol.errors import EncodeError
from ottla.protocol.records.columns_layout import ROW, SHORT_BUFFER


def murmur2(const uint8_t[::1] data):
    """See `murmur2_plain.murmur2`."""
    return murmur2_of(&data[0] if data.shape[0] else NULL, data.shape[0])


def key_partitions(source, Py_ssize_t rows, int32_t partitions):
    """See `murmur2_plain.key_partitions`."""
    cdef bytearray out = PyByteArray_FromStringAndSize(NULL, rows * 4)
    cdef int32_t* found = <int32_t*>PyByteArray_AS_STRING(out)
    cdef const uint8_t[::1] offsets = memoryview(source.offsets).cast("B")
    cdef const uint8_t[::1] data = memoryview(source.data).cast("B")
    cdef const uint8_t[::1] validity = None
    cdef Py_ssize_t first = source.first, width = source.width, row
    cdef int64_t start, stop
    cdef bint has_nulls = source.validity is not None
    if rows == 0:
        return out
    if offsets.shape[0] < (first + rows + 1) * width:
        raise EncodeError(SHORT_BUFFER)
    if has_nulls:
        validity = memoryview(source.validity).cast("B")
        if validity.shape[0] * 8 < first + rows:
            raise EncodeError(SHORT_BUFFER)
    for row in range(first, first + rows):
        if has_nulls and not validity[row >> 3] >> (row & 7) & 1:
            found[row - first] = -1
            continue
        if width == 4:
            start, stop = (<const int32_t*>&offsets[0])[row], (<const int32_t*>&offsets[0])[row + 1]
        else:
            start, stop = (<const int64_t*>&offsets[0])[row], (<const int64_t*>&offsets[0])[row + 1]
        if not 0 <= start <= stop <= data.shape[0]:
            raise EncodeError(ROW)
        found[row - first] = partition_of(&data[start] if stop > start else NULL, stop - start, partitions)
    return out
