"""The loops over record frames, compiled: scan, decode, iterate, encode.

`frames_plain` is the same in plain Python, and the one place that knows how to say what is wrong with a frame: on bad
input this module only finds the first bad record and asks it. Every read is checked against the end of the record it
belongs to, and each byte that decides about bounds is read once. The scan runs without the GIL.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_Check, PyLong_FromLongLong
from cpython.memoryview cimport PyMemoryView_FromObject, PyMemoryView_GET_BUFFER
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport (
    PyTuple_Check,
    PyTuple_CheckExact,
    PyTuple_GET_ITEM,
    PyTuple_GET_SIZE,
    PyTuple_New,
    PyTuple_SET_ITEM,
)
from cpython.unicode cimport PyUnicode_Check, PyUnicode_DecodeUTF8
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from ottla.protocol.records._frame cimport Frame, add, parse
from ottla.protocol.records._memory cimport is_contiguous
from ottla.protocol.records._varint cimport (
    OTTLA_LIKELY,
    read_varint,
    varint_size,
    varlong_size,
    write_varint,
    write_varlong,
)

from ottla.protocol.records import frames_plain
from ottla.protocol.records.memory import contiguous

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(void*)
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1

# A record's smallest frame: seven fields of a byte each.
cdef Py_ssize_t FRAME_BYTES_MIN = 7
cdef tuple NO_HEADERS = ()


cdef struct Facts:
    int64_t timestamp_min
    int64_t timestamp_max
    int32_t null_keys
    bint consecutive


cdef int32_t scan_frames(
    const uint8_t** start, const uint8_t* end, int32_t count, int64_t base_timestamp, Facts* facts
) noexcept nogil:
    """How many records were well formed; `start` moves to the first that was not, or behind the last."""
    cdef const uint8_t* at = start[0]
    cdef const uint8_t* following
    cdef int64_t timestamp, lowest = INT64_MAX, highest = INT64_MIN
    cdef int32_t index = 0, null_keys = 0
    cdef bint consecutive = True
    cdef Frame frame
    while index < count:
        following = parse(at, end, &frame)
        if following == NULL:
            break
        at = following
        timestamp = add(base_timestamp, frame.timestamp_delta)
        if timestamp > highest:
            highest = timestamp
        if timestamp < lowest and timestamp != -1:
            lowest = timestamp
        null_keys += frame.key_size < 0
        consecutive &= frame.offset_delta == index
        index += 1
    start[0] = at
    facts.timestamp_min = lowest if lowest != INT64_MAX else -1
    facts.timestamp_max = highest if index > 0 else -1
    facts.null_keys = null_keys
    facts.consecutive = consecutive
    return index


def scan(data, int64_t count, int64_t base_timestamp):
    """See `frames_plain.scan`."""
    cdef Py_buffer view
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef Facts facts
    cdef int32_t good = 0
    cdef Py_ssize_t position
    frames_plain.check_count(count)
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        at = <const uint8_t*>view.buf
        end = at + view.len
        if view.len < 4096:
            good = scan_frames(&at, end, <int32_t>count, base_timestamp, &facts)
        else:
            with nogil:
                good = scan_frames(&at, end, <int32_t>count, base_timestamp, &facts)
        position = at - <const uint8_t*>view.buf
    finally:
        PyBuffer_Release(&view)
    if good != count or position != view.len:
        frames_plain.refuse(data, position, good, count)
    return facts.timestamp_min, facts.timestamp_max, facts.null_keys, facts.consecutive


def find_invalid(data, int64_t count, int64_t base_timestamp, demands, Py_ssize_t found_max):
    """See `frames_plain.find_invalid`."""
    cdef Py_buffer view
    cdef const uint8_t* start
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t timestamp, earliest = demands.earliest, latest = demands.latest
    cdef bint needs_key = demands.key
    cdef int32_t index = 0
    cdef Frame frame
    cdef list found = []
    frames_plain.check_count(count)
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        start = at = <const uint8_t*>view.buf
        end = start + view.len
        with nogil:
            while index < count:
                at = parse(at, end, &frame)
                if at == NULL:
                    break
                timestamp = add(base_timestamp, frame.timestamp_delta)
                if (
                    frame.offset_delta != index or (needs_key and frame.key_size < 0)
                    or (timestamp != -1 and not earliest <= timestamp <= latest)
                ):
                    with gil:
                        found.append((index, frame.offset_delta, timestamp, frame.key_size >= 0))
                        if len(found) == found_max:
                            return found
                index += 1
    finally:
        PyBuffer_Release(&view)
    if index != count or at != end:
        # Malformed after all: the scan says how.
        scan(data, count, base_timestamp)
    return found


cdef inline object bytes_or_none(const uint8_t* at, int32_t size):
    return None if size < 0 else PyBytes_FromStringAndSize(<const char*>at, size)


cdef tuple read_headers(const uint8_t* at, const uint8_t* end, int32_t count):
    """The headers of a frame that `parse` found sound; checked once more, as the bytes may be shared."""
    cdef int32_t index, name_size, value_size
    cdef const uint8_t* name
    cdef list headers = []
    for index in range(count):
        name = read_varint(at, end, &name_size)
        if name == NULL or name_size < 0 or name_size > end - name:
            break
        at = read_varint(name + name_size, end, &value_size)
        if at == NULL or value_size > end - at:
            break
        headers.append((
            PyUnicode_DecodeUTF8(<const char*>name, name_size, "replace"),
            bytes_or_none(at, value_size),
        ))
        if value_size > 0:
            at += value_size
    return tuple(headers)


cdef inline tuple build(Frame* frame, const uint8_t* following, int64_t base_offset, object timestamp):
    cdef tuple record = PyTuple_New(5)
    cdef object item = PyLong_FromLongLong(add(base_offset, frame.offset_delta))
    Py_INCREF(item)
    PyTuple_SET_ITEM(record, 0, item)
    Py_INCREF(timestamp)
    PyTuple_SET_ITEM(record, 1, timestamp)
    item = bytes_or_none(frame.key, frame.key_size)
    Py_INCREF(item)
    PyTuple_SET_ITEM(record, 2, item)
    item = bytes_or_none(frame.value, frame.value_size)
    Py_INCREF(item)
    PyTuple_SET_ITEM(record, 3, item)
    item = NO_HEADERS if frame.header_count == 0 else read_headers(frame.headers, following, frame.header_count)
    Py_INCREF(item)
    PyTuple_SET_ITEM(record, 4, item)
    if frame.header_count == 0:
        # Nothing in it can be part of a cycle: the collector need not walk a million of these.
        PyObject_GC_UnTrack(<void*>record)
    return record


cdef class RecordIterator:
    """Yields one record at a time and keeps none; holds the buffer until it is gone."""

    cdef object memory
    cdef const uint8_t* start
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t base_offset, base_timestamp, previous_delta
    cdef int32_t count, index
    cdef object timestamp
    cdef bint fixed_timestamp

    def __cinit__(self, data, int64_t count, int64_t base_offset, int64_t base_timestamp, log_append_time):
        cdef Py_buffer* view
        frames_plain.check_count(count)
        self.memory = PyMemoryView_FromObject(data)
        if not is_contiguous(self.memory):
            self.memory = contiguous(self.memory)
        view = PyMemoryView_GET_BUFFER(self.memory)
        self.start = self.at = <const uint8_t*>view.buf
        self.end = self.start + view.len
        self.count = <int32_t>count
        self.index = 0
        self.base_offset = base_offset
        self.base_timestamp = base_timestamp
        self.fixed_timestamp = log_append_time is not None
        self.timestamp = log_append_time if self.fixed_timestamp else PyLong_FromLongLong(base_timestamp)
        self.previous_delta = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.index == self.count and self.at == self.end:
            raise StopIteration
        return self.step()

    cdef tuple step(self):
        cdef Frame frame
        cdef const uint8_t* following = NULL
        if self.index < self.count:
            following = parse(self.at, self.end, &frame)
        if following == NULL:
            frames_plain.refuse(self.memory, self.at - self.start, self.index, self.count)
        if not self.fixed_timestamp and frame.timestamp_delta != self.previous_delta:
            self.timestamp = PyLong_FromLongLong(add(self.base_timestamp, frame.timestamp_delta))
            self.previous_delta = frame.timestamp_delta
        self.at = following
        self.index += 1
        return build(&frame, following, self.base_offset, self.timestamp)


def iterate(data, count, base_offset, base_timestamp, log_append_time):
    """See `frames_plain.iterate`."""
    return RecordIterator(data, count, base_offset, base_timestamp, log_append_time)


def decode(data, int64_t count, int64_t base_offset, int64_t base_timestamp, log_append_time):
    """See `frames_plain.decode`."""
    cdef RecordIterator records = RecordIterator(data, count, base_offset, base_timestamp, log_append_time)
    cdef Py_ssize_t index
    cdef tuple record
    cdef list decoded
    if count > (records.end - records.start) // FRAME_BYTES_MIN:
        # More records than the bytes can hold: find the one that is missing before making room for them all.
        scan(data, count, base_timestamp)
    decoded = PyList_New(count)
    for index in range(count):
        record = records.step()
        Py_INCREF(record)
        PyList_SET_ITEM(decoded, index, record)
    if records.at != records.end:
        frames_plain.refuse(data, records.at - records.start, count, count)
    return decoded


cdef struct Plan:
    int64_t timestamp
    int64_t offset_delta
    const char* key
    const char* value
    Py_ssize_t key_size
    Py_ssize_t value_size


cdef inline bint plan_int64(object number, int64_t* out) except -1:
    cdef int overflow = 0
    if not PyLong_Check(number):
        return False
    out[0] = PyLong_AsLongLongAndOverflow(number, &overflow)
    return overflow == 0


cdef inline bint plan_bytes(object value, const char** at, Py_ssize_t* size) noexcept:
    """Where exact bytes lie; None has size -1."""
    if value is None:
        size[0] = -1
        return True
    if not PyBytes_CheckExact(value):
        return False
    at[0] = PyBytes_AS_STRING(value)
    size[0] = PyBytes_GET_SIZE(value)
    return size[0] <= INT32_MAX


cdef inline int64_t field_size(Py_ssize_t size) noexcept:
    return 1 if size < 0 else varint_size(<int32_t>size) + <int64_t>size


cdef int64_t headers_size(tuple headers) except -2:
    """Bytes of the headers with their count; -1 if they are not simple."""
    cdef int64_t total = varint_size(<int32_t>PyTuple_GET_SIZE(headers))
    cdef const char* at = NULL
    cdef Py_ssize_t size = 0
    cdef object header, name
    for header in headers:
        if not PyTuple_Check(header) or PyTuple_GET_SIZE(header) != 2:
            return -1
        name = <object>PyTuple_GET_ITEM(header, 0)
        if not PyUnicode_Check(name):
            return -1
        try:
            PyUnicode_AsUTF8AndSize(name, &size)
        except UnicodeEncodeError:
            return -1
        total += field_size(size)
        if not plan_bytes(<object>PyTuple_GET_ITEM(header, 1), &at, &size):
            return -1
        total += field_size(size)
    return total


cdef int64_t plan_record(object record, int64_t base_offset, int64_t base_timestamp, Plan* plan) except -2:
    """The size of the record's body, -1 if it is not made of plain tuples and bytes and so is left to the plain twin."""
    cdef int64_t offset = 0, size
    cdef object headers
    if not PyTuple_Check(record) or PyTuple_GET_SIZE(record) != 5:
        return -1
    if not plan_int64(<object>PyTuple_GET_ITEM(record, 0), &offset):
        return -1
    if offset < base_offset or <uint64_t>offset - <uint64_t>base_offset > INT32_MAX:
        return -1
    plan.offset_delta = offset - base_offset
    if not plan_int64(<object>PyTuple_GET_ITEM(record, 1), &plan.timestamp):
        return -1
    if not plan_bytes(<object>PyTuple_GET_ITEM(record, 2), &plan.key, &plan.key_size):
        return -1
    if not plan_bytes(<object>PyTuple_GET_ITEM(record, 3), &plan.value, &plan.value_size):
        return -1
    headers = <object>PyTuple_GET_ITEM(record, 4)
    if headers is NO_HEADERS:
        size = 1
    elif PyTuple_CheckExact(headers):
        size = headers_size(headers)
        if size < 0:
            return -1
    else:
        return -1
    size += 1 + varint_size(<int32_t>plan.offset_delta)
    size += varlong_size(<int64_t>(<uint64_t>plan.timestamp - <uint64_t>base_timestamp))
    size += field_size(plan.key_size) + field_size(plan.value_size)
    return size if size <= INT32_MAX else -1


cdef inline uint8_t* put_bytes(uint8_t* at, const char* source, Py_ssize_t size) noexcept:
    if size < 0:
        at[0] = 1
        return at + 1
    at = write_varint(at, <int32_t>size)
    memcpy(at, source, size)
    return at + size


cdef uint8_t* put_headers(uint8_t* at, tuple headers) except NULL:
    cdef const char* source = NULL
    cdef Py_ssize_t size = 0
    cdef object header
    at = write_varint(at, <int32_t>PyTuple_GET_SIZE(headers))
    for header in headers:
        source = PyUnicode_AsUTF8AndSize(<object>PyTuple_GET_ITEM(header, 0), &size)
        at = put_bytes(at, source, size)
        plan_bytes(<object>PyTuple_GET_ITEM(header, 1), &source, &size)
        at = put_bytes(at, source, size)
    return at


cdef inline uint8_t* put_record(uint8_t* at, object record, int64_t size, int64_t base_timestamp, Plan* plan) except NULL:
    at = write_varint(at, <int32_t>size)
    at[0] = 0
    at = write_varlong(at + 1, <int64_t>(<uint64_t>plan.timestamp - <uint64_t>base_timestamp))
    at = write_varint(at, <int32_t>plan.offset_delta)
    at = put_bytes(at, plan.key, plan.key_size)
    at = put_bytes(at, plan.value, plan.value_size)
    return put_headers(at, <tuple>PyTuple_GET_ITEM(record, 4))


cdef bytearray grown(bytearray out, Py_ssize_t used, int64_t more):
    """Room for `more` bytes, by doubling, so that appending stays linear."""
    cdef Py_ssize_t size = len(out)
    if used + more > size:
        PyByteArray_Resize(out, max(used + more, size + (size >> 1)))
    return out


def encode(records, int64_t base_offset, int64_t base_timestamp, Py_ssize_t reserve):
    """See `frames_plain.encode`."""
    cdef bytearray out = PyByteArray_FromStringAndSize(NULL, reserve)
    cdef bytearray plain
    cdef int64_t size, last_delta = -1, highest = -1
    cdef Py_ssize_t index = 0, used = reserve
    cdef uint8_t* start
    cdef Plan plan
    cdef object record
    cdef Py_ssize_t expected = len(records)
    memset(PyByteArray_AS_STRING(out), 0, reserve)
    for record in records:
        size = plan_record(record, base_offset, base_timestamp, &plan)
        if OTTLA_LIKELY(size >= 0):
            if used + size + 5 > len(out):
                out = grown(out, used, (size + 5) * max(1, expected) if index == 0 else size + 5)
            start = <uint8_t*>PyByteArray_AS_STRING(out)
            used = put_record(start + used, record, size, base_timestamp, &plan) - start
        else:
            plain = bytearray()
            frames_plain.encode_record(plain, record, index, base_offset, base_timestamp)
            out = grown(out, used, len(plain))
            memcpy(PyByteArray_AS_STRING(out) + used, PyByteArray_AS_STRING(plain), len(plain))
            used += len(plain)
            plan.offset_delta = record[0] - base_offset
            plan.timestamp = record[1]
        if plan.offset_delta <= last_delta:
            raise frames_plain.out_of_order(index, base_offset + plan.offset_delta, base_offset + last_delta)
        last_delta = plan.offset_delta
        if index == 0 or plan.timestamp > highest:
            highest = plan.timestamp
        index += 1
    PyByteArray_Resize(out, used)
    return out, last_delta, highest


def record_size(record, index, int64_t base_offset, int64_t base_timestamp):
    """See `frames_plain.record_size`."""
    cdef Plan plan
    cdef int64_t size = plan_record(record, base_offset, base_timestamp, &plan)
    if size < 0:
        return frames_plain.record_size(record, index, base_offset, base_timestamp)
    return varint_size(<int32_t>size) + size
