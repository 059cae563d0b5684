"""The way of a record from `send` into its partition's open batch, compiled; `append_plain` documents it.

Nothing here lets go of the interpreter lock between the look at a batch and the bytes in it: everything that could
(objects that the collector tracks) is made before. So many threads may send while the loop's thread takes batches away.
"""

from cpython.buffer cimport PyBUF_READ
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_Check
from libc.stdint cimport INT32_MAX, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ottla.client.producer.partitioner._murmur2 cimport partition_of
from ottla.protocol.records._varint cimport (
    store_int16,
    store_int32,
    store_int64,
    varint_size,
    varlong_size,
    write_varint,
    write_varlong,
)

from ottla.client.producer import send_future
from ottla.protocol.checksum import crc32c

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    long long PyLong_AsLongLong(object number) except? -1

cdef extern from "<time.h>" nogil:
    struct timespec:
        int64_t tv_sec
        long tv_nsec
    int CLOCK_REALTIME
    int clock_gettime(int clock, timespec* now)

cdef enum:
    HEADER_BYTES = 61
    BUFFER_BYTES_FIRST = 1024

cdef enum Put:
    FULL = -1
    UNUSUAL = -2


cdef inline int64_t field_size(Py_ssize_t size) noexcept:
    return 1 if size < 0 else varint_size(<int32_t>size) + <int64_t>size


cdef inline Py_ssize_t bytes_size(object value) noexcept:
    """The size of exact bytes, -1 for None, -2 for what the slow way has to look at."""
    if value is None:
        return -1
    if not PyBytes_CheckExact(value) or PyBytes_GET_SIZE(value) > INT32_MAX // 4:
        return UNUSUAL
    return PyBytes_GET_SIZE(value)


cdef inline uint8_t* put_bytes(uint8_t* at, object value, Py_ssize_t size) noexcept:
    if size < 0:
        at[0] = 1
        return at + 1
    at = write_varint(at, <int32_t>size)
    memcpy(at, PyBytes_AS_STRING(value), size)
    return at + size


cdef inline Py_ssize_t header_count(object headers) noexcept:
    if headers is None:
        return 0
    if PyList_CheckExact(headers):
        return PyList_GET_SIZE(headers)
    return PyTuple_GET_SIZE(headers) if PyTuple_CheckExact(headers) else UNUSUAL


cdef inline object header_at(object headers, Py_ssize_t index):
    return <object>(PyList_GET_ITEM(headers, index) if PyList_CheckExact(headers) else PyTuple_GET_ITEM(headers, index))


cdef int64_t headers_size(object headers) except -3:
    """Bytes of the headers with their count; UNUSUAL if they are not pairs of text and bytes."""
    cdef Py_ssize_t count = header_count(headers), index, size = 0
    cdef int64_t total
    cdef object header
    if count < 0 or count > INT32_MAX:
        return UNUSUAL
    total = varint_size(<int32_t>count)
    for index in range(count):
        header = header_at(headers, index)
        if not PyTuple_CheckExact(header) or PyTuple_GET_SIZE(header) != 2:
            return UNUSUAL
        if not PyUnicode_Check(<object>PyTuple_GET_ITEM(header, 0)):
            return UNUSUAL
        try:
            PyUnicode_AsUTF8AndSize(<object>PyTuple_GET_ITEM(header, 0), &size)
        except UnicodeEncodeError:
            return UNUSUAL
        total += field_size(size)
        size = bytes_size(<object>PyTuple_GET_ITEM(header, 1))
        if size == UNUSUAL:
            return UNUSUAL
        total += field_size(size)
    return total


cdef uint8_t* put_headers(uint8_t* at, object headers) except NULL:
    cdef Py_ssize_t count = header_count(headers), index, size = 0
    cdef const char* name
    cdef object value
    at = write_varint(at, <int32_t>count)
    for index in range(count):
        header = header_at(headers, index)
        name = PyUnicode_AsUTF8AndSize(<object>PyTuple_GET_ITEM(header, 0), &size)
        at = write_varint(at, <int32_t>size)
        memcpy(at, name, size)
        value = <object>PyTuple_GET_ITEM(header, 1)
        at = put_bytes(at + size, value, bytes_size(value))
    return at


cdef class RecordBuffer:
    """See `append_plain.RecordBuffer`."""

    cdef readonly bytearray data
    cdef readonly Py_ssize_t used
    cdef readonly int32_t count
    cdef readonly int64_t base_timestamp
    cdef readonly int64_t max_timestamp
    cdef readonly int64_t record_bytes_max
    cdef Py_ssize_t limit
    cdef double ratio
    cdef readonly list callbacks
    cdef readonly bint is_compressed

    def __init__(self, Py_ssize_t limit, double ratio):
        self.limit = limit
        self.ratio = ratio
        self.data = bytearray(HEADER_BYTES)
        self.used = HEADER_BYTES
        self.callbacks = []

    cdef int64_t put(self, int64_t timestamp, object key, object value, object headers) except -3:
        cdef Py_ssize_t key_size = bytes_size(key), value_size = bytes_size(value)
        cdef int64_t size = 1, delta, whole
        cdef uint8_t* at
        if key_size == UNUSUAL or value_size == UNUSUAL:
            return UNUSUAL
        if headers is not None:
            size = headers_size(headers)
            if size < 0:
                return UNUSUAL
        delta = <int64_t>(<uint64_t>timestamp - <uint64_t>self.base_timestamp) if self.count else 0
        size += 1 + varlong_size(delta) + varint_size(self.count) + field_size(key_size) + field_size(value_size)
        if size > INT32_MAX:
            return UNUSUAL
        whole = size + varint_size(<int32_t>size)
        if self.count and HEADER_BYTES + <int64_t>((self.used - HEADER_BYTES + whole) * self.ratio) > self.limit:
            return FULL
        self.reserve(whole)
        at = <uint8_t*>PyByteArray_AS_STRING(self.data) + self.used
        at = write_varint(at, <int32_t>size)
        at[0] = 0
        at = write_varlong(at + 1, delta)
        at = write_varint(at, self.count)
        at = put_bytes(at, key, key_size)
        at = put_bytes(at, value, value_size)
        if headers is None:
            at[0] = 0
        else:
            put_headers(at, headers)
        self.note(timestamp, whole)
        return whole

    cdef int reserve(self, int64_t more) except -1:
        cdef Py_ssize_t size = PyByteArray_GET_SIZE(self.data)
        if self.used + more > size:
            PyByteArray_Resize(self.data, max(self.used + more, 2 * size, BUFFER_BYTES_FIRST))
        return 0

    cdef inline void note(self, int64_t timestamp, int64_t size) noexcept:
        if self.count == 0:
            self.base_timestamp = self.max_timestamp = timestamp
        elif timestamp > self.max_timestamp:
            self.max_timestamp = timestamp
        if size > self.record_bytes_max:
            self.record_bytes_max = size
        self.used += size
        self.count += 1

    def append(self, int64_t timestamp, key, value, headers):
        return self.put(timestamp, key, value, headers)

    def write_header(self, int16_t attributes, int64_t producer_id, int16_t producer_epoch, int32_t base_sequence):
        cdef uint8_t* at = <uint8_t*>PyByteArray_AS_STRING(self.data)
        cdef uint32_t checksum
        store_int64(at, 0)
        store_int32(at + 8, <int32_t>(PyByteArray_GET_SIZE(self.data) - 12))
        store_int32(at + 12, -1)
        at[16] = 2
        store_int16(at + 21, attributes)
        store_int32(at + 23, self.count - 1)
        store_int64(at + 27, self.base_timestamp)
        store_int64(at + 35, self.max_timestamp)
        store_int64(at + 43, producer_id)
        store_int16(at + 51, producer_epoch)
        store_int32(at + 53, base_sequence)
        store_int32(at + 57, self.count)
        checksum = crc32c(PyMemoryView_FromMemory(<char*>at + 21, PyByteArray_GET_SIZE(self.data) - 21, PyBUF_READ))
        store_int32(at + 17, <int32_t>checksum)

    def compressed(self, section):
        self.data = bytearray(HEADER_BYTES) + section
        self.is_compressed = True

    def trimmed(self):
        PyByteArray_Resize(self.data, self.used)
        return self.data

    def adopt(self, bytearray data, int32_t count, int64_t base_timestamp, int64_t max_timestamp):
        self.data = data
        self.used = len(data)
        self.count = count
        self.base_timestamp = base_timestamp
        self.max_timestamp = max_timestamp

    def drop_data(self):
        self.data = bytearray()


cdef class SendFuture:
    """The outcome of one record: wait for it, await it, or add a callback."""

    cdef readonly object batch
    cdef readonly int32_t index
    cdef readonly int64_t timestamp
    cdef readonly int32_t key_size
    cdef readonly int32_t value_size
    cdef object __weakref__

    def __init__(self, batch, index, timestamp, key_size, value_size):
        self.batch = batch
        self.index = index
        self.timestamp = timestamp
        self.key_size = key_size
        self.value_size = value_size

    def done(self):
        """Whether the record was acknowledged, or has failed."""
        return send_future.is_done(self)

    def result(self, timeout=None):
        """Where the record is, once it is there; raises what it failed with, `TimeoutError` after `timeout` s."""
        return send_future.result(self, timeout)

    def exception(self, timeout=None):
        """The record's error, None if it has none; raises `TimeoutError` after `timeout` seconds."""
        return send_future.exception(self, timeout)

    def add_done_callback(self, callback):
        """Calls `callback` with this future when it is done: on the producer's loop, or at once if it is done."""
        send_future.add_done_callback(self, callback)

    def __await__(self):
        return send_future.awaited(self)

    def __repr__(self):
        return send_future.shown(self)

    def __getattr__(self, name):
        raise send_future.missing(self, name)


cdef class TopicLane:
    """See `append_plain.TopicLane`."""

    cdef readonly str topic
    cdef readonly int32_t partition_count
    cdef public list open
    cdef public bint uses_keys
    cdef public int32_t sticky_partition
    cdef public int64_t sticky_bytes

    def __init__(self, str topic, int32_t partition_count):
        self.topic = topic
        self.uses_keys = True
        self.sticky_partition = -1
        self.open = []
        self.grow(partition_count)

    def grow(self, int32_t partition_count):
        self.open.extend([None] * (partition_count - len(self.open)))
        self.partition_count = partition_count


cdef class Appender:
    """See `append_plain.Appender`."""

    cdef readonly dict lanes
    cdef public bint is_open
    cdef readonly int64_t memory_bytes
    cdef readonly int64_t memory_used
    cdef public int64_t record_bytes_limit

    def __init__(self, int64_t memory_bytes):
        self.lanes = {}
        self.memory_bytes = memory_bytes
        self.record_bytes_limit = INT32_MAX

    def append(self, topic, value, key, partition, timestamp_ms, headers, on_delivery):
        future = self.find_and_append(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        if future is None:
            return self.append_to_new_batch(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        return future

    def append_to_new_batch(self, topic, value, key, partition, timestamp_ms, headers, on_delivery):
        return None

    def append_to_open_batch(self, topic, value, key, partition, timestamp_ms, headers, on_delivery):
        return self.find_and_append(topic, value, key, partition, timestamp_ms, headers, on_delivery)

    cdef find_and_append(
        self, object topic, object value, object key, object partition, object timestamp_ms, object headers, object done
    ):
        cdef TopicLane lane
        cdef int32_t number
        cdef int64_t timestamp
        if not self.is_open:
            return None
        lane = self.lanes.get(topic)
        if lane is None:
            return None
        if partition is not None:
            number = partition
        elif key is not None and lane.uses_keys:
            if not PyBytes_CheckExact(key):
                return None
            number = partition_of(<const uint8_t*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key), lane.partition_count)
        else:
            number = lane.sticky_partition
        if number < 0 or number >= lane.partition_count:
            return None
        timestamp = now_ms() if timestamp_ms is None else PyLong_AsLongLong(timestamp_ms)
        if timestamp < 0:
            return None
        return self.append_to(lane, number, timestamp, key, value, headers, done)

    cdef append_to(
        self, TopicLane lane, int32_t number, int64_t timestamp, object key, object value, object headers, object done
    ):
        cdef SendFuture future = SendFuture.__new__(SendFuture)
        cdef RecordBuffer batch
        cdef object entry = None if done is None else (future, done)
        cdef int64_t size
        found = <object>PyList_GET_ITEM(lane.open, number)
        if found is None:
            return None
        batch = found
        future.batch = batch
        future.index = batch.count
        future.timestamp = timestamp
        future.key_size = -1 if key is None else <int32_t>len(key)
        future.value_size = -1 if value is None else <int32_t>len(value)
        if self.memory_used + future.key_size + future.value_size + 64 > self.memory_bytes:
            return None
        if future.key_size + <int64_t>future.value_size > self.record_bytes_limit:
            return None
        size = batch.put(timestamp, key, value, headers)
        if size < 0:
            return None
        if entry is not None:
            batch.callbacks.append(entry)
        self.memory_used += size
        if number == lane.sticky_partition:
            lane.sticky_bytes += size
        return future

    def reserve(self, batch, int64_t size):
        if self.memory_used + size > self.memory_bytes:
            return False
        self.memory_used += size
        batch.reserved_bytes = size
        return True

    def resize(self, int64_t before, int64_t after):
        self.memory_used += after - before

    def give_back(self, batch):
        self.memory_used -= <int64_t>batch.reserved_bytes
        batch.reserved_bytes = 0


cdef inline int64_t now_ms() noexcept:
    cdef timespec now
    clock_gettime(CLOCK_REALTIME, &now)
    return <int64_t>now.tv_sec * 1000 + now.tv_nsec // 1000000
