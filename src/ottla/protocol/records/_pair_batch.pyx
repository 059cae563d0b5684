"""Batches of keys and values, compiled: frames, header and checksum in one go. See `pair_batch_plain`, its plain twin,
which also takes over wherever something is out of the ordinary."""

from cpython.buffer cimport PyBUF_READ
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from ottla.protocol.records._crc cimport crc_short, is_short
from ottla.protocol.records._layout cimport (
    ATTRIBUTES_AT,
    BASE_TIMESTAMP_AT,
    COUNT_AT,
    CRC_AT,
    HEADER_BYTES,
    LAST_DELTA_AT,
    LENGTH_AT,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    PRODUCER_AT,
)
from ottla.protocol.records._varint cimport store_int32, store_int64, varint_size, write_varint

from ottla.protocol.checksum import crc32c
from ottla.protocol.records import pair_batch_plain

cdef enum:
    PRODUCER_BYTES = 14
    MAGIC = 2
    TOTAL_BYTES_MAX = 0x10000000  # beyond it every length would have to be checked: the plain twin does


cdef inline Py_ssize_t body_size(tuple pair, int32_t index) noexcept:
    """The bytes of a record without its own length; -1 if it is not made of plain bytes."""
    cdef Py_ssize_t size = 3 + varint_size(index)  # attributes, timestamp delta 0, no headers
    key, value = <object>PyTuple_GET_ITEM(pair, 0), <object>PyTuple_GET_ITEM(pair, 1)
    if not PyBytes_CheckExact(key) or PyBytes_GET_SIZE(key) > TOTAL_BYTES_MAX:
        return -1
    size += varint_size(<int32_t>PyBytes_GET_SIZE(key)) + PyBytes_GET_SIZE(key)
    if value is None:
        return size + 1
    if not PyBytes_CheckExact(value) or PyBytes_GET_SIZE(value) > TOTAL_BYTES_MAX:
        return -1
    return size + varint_size(<int32_t>PyBytes_GET_SIZE(value)) + PyBytes_GET_SIZE(value)


cdef inline uint8_t* put_bytes(uint8_t* at, object value) noexcept:
    if value is None:
        at[0] = 1
        return at + 1
    at = write_varint(at, <int32_t>PyBytes_GET_SIZE(value))
    memcpy(at, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value))
    return at + PyBytes_GET_SIZE(value)


def write_pairs(list pairs, int64_t timestamp, int64_t base_offset=0, int32_t leader_epoch=-1):
    """See `pair_batch_plain.write_pairs`."""
    cdef Py_ssize_t size, total = HEADER_BYTES
    cdef int32_t index, count = <int32_t>len(pairs)
    cdef bytearray batch
    cdef uint8_t* start
    cdef uint8_t* at
    cdef uint32_t checksum
    for index in range(count):
        pair = pairs[index]
        if not PyTuple_CheckExact(pair) or PyTuple_GET_SIZE(pair) != 2:
            return pair_batch_plain.write_pairs(pairs, timestamp, base_offset, leader_epoch)
        size = body_size(<tuple>pair, index)
        if size < 0 or size > TOTAL_BYTES_MAX or total > TOTAL_BYTES_MAX:
            return pair_batch_plain.write_pairs(pairs, timestamp, base_offset, leader_epoch)
        total += varint_size(<int32_t>size) + size
    if count == 0:
        return pair_batch_plain.write_pairs(pairs, timestamp, base_offset, leader_epoch)
    batch = PyByteArray_FromStringAndSize(NULL, total)
    start = <uint8_t*>PyByteArray_AS_STRING(batch)
    at = start + HEADER_BYTES
    for index in range(count):
        pair = pairs[index]
        at = write_varint(at, <int32_t>body_size(<tuple>pair, index))
        at[0] = at[1] = 0
        at = write_varint(at + 2, index)
        at = put_bytes(at, <object>PyTuple_GET_ITEM(<tuple>pair, 0))
        at = put_bytes(at, <object>PyTuple_GET_ITEM(<tuple>pair, 1))
        at[0] = 0
        at += 1
    memset(start, 0, HEADER_BYTES)
    store_int32(start + LENGTH_AT, <int32_t>(total - LOG_OVERHEAD))
    store_int64(start, base_offset)
    store_int32(start + LOG_OVERHEAD, leader_epoch)
    start[MAGIC_AT] = MAGIC
    store_int32(start + LAST_DELTA_AT, count - 1)
    store_int64(start + BASE_TIMESTAMP_AT, timestamp)
    store_int64(start + MAX_TIMESTAMP_AT, timestamp)
    memset(start + PRODUCER_AT, 0xFF, PRODUCER_BYTES)
    store_int32(start + COUNT_AT, count)
    total -= ATTRIBUTES_AT
    if is_short(total):
        checksum = crc_short(start + ATTRIBUTES_AT, <size_t>total)
    else:
        checksum = crc32c(PyMemoryView_FromMemory(<char*>start + ATTRIBUTES_AT, total, PyBUF_READ))
    store_int32(start + CRC_AT, <int32_t>checksum)
    return batch
