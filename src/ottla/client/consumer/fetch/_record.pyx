"""Records as users get them, and the loop that makes them from a batch's section, compiled; `record_plain` documents it.

A record copies what it needs out of the receive buffer, so the buffer goes when its batches have been read. Headers are
copied as bytes and decoded at the first access.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.list cimport PyList_Append
from cpython.memoryview cimport PyMemoryView_FromObject, PyMemoryView_GET_BUFFER
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython cimport final, freelist
from libc.stdint cimport int32_t, int64_t, uint8_t

from ottla.protocol.records._frame cimport Frame, add, parse
from ottla.protocol.records._memory cimport is_contiguous
from ottla.protocol.records._varint cimport read_varint

from ottla.client.consumer.fetch import record_plain
from ottla.protocol.records import frames_plain
from ottla.protocol.records.memory import contiguous

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(void*)

cdef object TIMESTAMP_TYPES = record_plain.TIMESTAMP_TYPES


@final
@freelist(1024)
cdef class Record:
    """See `record_plain.Record`."""

    cdef readonly object topic
    cdef readonly object key
    cdef readonly object value
    cdef object header_source
    cdef readonly int64_t offset
    cdef readonly int64_t timestamp
    cdef readonly int32_t partition
    cdef int32_t epoch
    cdef int32_t header_count
    cdef int32_t kind

    def __init__(
        self, topic, int32_t partition, int64_t offset, key=None, value=None, *,
        int64_t timestamp=-1, timestamp_type=0, headers=(), leader_epoch=None,
    ):
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.key = key
        self.value = value
        self.timestamp = timestamp
        self.kind = timestamp_type
        self.epoch = -1 if leader_epoch is None else leader_epoch
        self.header_source = tuple(headers)
        self.header_count = -1

    @property
    def timestamp_type(self):
        return TIMESTAMP_TYPES[self.kind]

    @property
    def leader_epoch(self):
        return None if self.epoch < 0 else self.epoch

    @property
    def headers(self):
        if self.header_count == 0:
            return ()
        if self.header_count > 0:
            self.header_source = read_headers(self.header_source, self.header_count)
            self.header_count = -1
        return self.header_source

    def __repr__(self):
        return record_plain.described(self)

    def __eq__(self, other):
        return record_plain.fields(self) == record_plain.fields(other) if isinstance(other, Record) else NotImplemented

    def __hash__(self):
        return hash((self.topic, self.partition, self.offset))


cdef tuple read_headers(bytes source, int32_t count):
    """The headers of a frame that `parse` found sound."""
    cdef const uint8_t* at = <const uint8_t*><const char*>source
    cdef const uint8_t* end = at + len(source)
    cdef const uint8_t* name
    cdef int32_t index, name_size = 0, value_size = 0
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
            None if value_size < 0 else PyBytes_FromStringAndSize(<const char*>at, value_size),
        ))
        if value_size > 0:
            at += value_size
    return tuple(headers)


@final
cdef class RecordReader:
    """See `record_plain.RecordReader`."""

    cdef object memory
    cdef const uint8_t* start
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t base_offset, base_timestamp
    cdef int32_t count, index, partition, epoch, kind
    cdef object topic, read_key, read_value

    def __cinit__(self, data, batch, source):
        cdef Py_buffer* view
        log_append_time = batch.log_append_time
        self.count = batch.records_count
        frames_plain.check_count(self.count)
        self.memory = PyMemoryView_FromObject(data)
        if not is_contiguous(self.memory):
            self.memory = contiguous(self.memory)
        view = PyMemoryView_GET_BUFFER(self.memory)
        self.start = self.at = <const uint8_t*>view.buf
        self.end = self.start + view.len
        self.base_offset = batch.base_offset
        self.kind = 0 if log_append_time is None else 1
        self.base_timestamp = batch.base_timestamp if log_append_time is None else log_append_time
        self.epoch = batch.partition_leader_epoch
        self.topic = source.topic
        self.partition = source.partition
        self.read_key = source.read_key
        self.read_value = source.read_value

    @property
    def is_done(self):
        return self.index == self.count

    def take(self, out, Py_ssize_t records_max, int64_t from_offset):
        cdef Frame frame
        cdef const uint8_t* following
        cdef Py_ssize_t taken = 0
        cdef int64_t offset = from_offset - 1
        while self.index < self.count and taken < records_max:
            following = parse(self.at, self.end, &frame)
            if following == NULL:
                frames_plain.refuse(self.memory, self.at - self.start, self.index, self.count)
            if add(self.base_offset, frame.offset_delta) >= from_offset:
                # What a deserializer refuses stays unread: the reader is still in front of it.
                PyList_Append(out, self.build(&frame, following))
                offset = add(self.base_offset, frame.offset_delta)
                taken += 1
            self.at = following
            self.index += 1
        if self.index == self.count and self.at != self.end:
            frames_plain.refuse(self.memory, self.at - self.start, self.index, self.count)
        return offset + 1

    cdef Record build(self, Frame* frame, const uint8_t* following):
        cdef Record record = Record.__new__(Record)
        record.topic = self.topic
        record.partition = self.partition
        record.offset = add(self.base_offset, frame.offset_delta)
        record.timestamp = self.base_timestamp if self.kind else add(self.base_timestamp, frame.timestamp_delta)
        record.kind = self.kind
        record.epoch = self.epoch
        if frame.header_count > 0:
            record.header_count = frame.header_count
            record.header_source = PyBytes_FromStringAndSize(<const char*>frame.headers, following - frame.headers)
        if frame.key_size >= 0:
            record.key = PyBytes_FromStringAndSize(<const char*>frame.key, frame.key_size)
        if frame.value_size >= 0:
            record.value = PyBytes_FromStringAndSize(<const char*>frame.value, frame.value_size)
        if self.read_key is None and self.read_value is None:
            # Bytes and text cannot be part of a cycle: the collector need not walk a million of these.
            PyObject_GC_UnTrack(<void*>record)
        else:
            self.deserialize(record)
        return record

    cdef deserialize(self, Record record):
        headers = record.headers
        try:
            if self.read_key is not None:
                record.key = self.read_key(self.topic, headers, record.key)
            if self.read_value is not None:
                record.value = self.read_value(self.topic, headers, record.value)
        except Exception as error:
            raise record_plain.refused(record) from error
