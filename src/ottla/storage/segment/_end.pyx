"""The compiled twin of `end_plain`: the same in the same order, with the fields in C, and a file of the system's
written to without a call of Python's."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t
from posix.types cimport off_t

from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.storage.disk.local import LocalFile
from ottla.storage.errors import StorageError
from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX

cdef extern from "<unistd.h>" nogil:
    ssize_t pwrite(int fd, const void *data, size_t size, off_t position)

cdef enum:
    NOT_OURS = -1


cdef class SegmentEnd:
    def __init__(self, int64_t base_offset, int64_t index_interval_bytes):
        self.descriptor = NOT_OURS
        self._index_interval_bytes = index_interval_bytes
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = self._next_offset = base_offset
        self.offset_max = base_offset + <int64_t>RELATIVE_OFFSET_MAX

    @property
    def _file(self):
        return self.held_file

    @_file.setter
    def _file(self, file):
        self.descriptor = file.fileno() if type(file) is LocalFile else NOT_OURS
        self.held_file = file

    def append(self, data, int64_t last_offset, int64_t max_timestamp):
        cdef Py_buffer view
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            self.add(data, <const uint8_t *>view.buf, view.len, last_offset, max_timestamp)
        finally:
            PyBuffer_Release(&view)

    cdef int add(
        self, object data, const uint8_t *bytes, Py_ssize_t size, int64_t last_offset, int64_t max_timestamp
    ) except -1:
        cdef int64_t position = self.size_bytes
        cdef int descriptor = self.descriptor
        cdef ssize_t written = -1
        file = self.held_file  # for as long as this writes, even if it is released meanwhile
        if descriptor != NOT_OURS:
            with nogil:
                written = pwrite(descriptor, bytes, <size_t>size, <off_t>position)
        if written != size:
            # All of it again: whatever the reason is, it is found and told there.
            self._write(position, data)
        self.note(position, size, last_offset, max_timestamp)
        self.size_bytes = position + size
        return 0

    def _note(self, int64_t position, int64_t size, int64_t last_offset, int64_t max_timestamp):
        self.note(position, size, last_offset, max_timestamp)

    cdef int note(self, int64_t position, int64_t size, int64_t last_offset, int64_t max_timestamp) except -1:
        if max_timestamp > self._max_timestamp:
            self._max_timestamp = max_timestamp
            self._max_timestamp_offset = last_offset
        if self._unindexed_bytes > self._index_interval_bytes:
            self._add_entries(last_offset, position)
            self._unindexed_bytes = 0
        self._unindexed_bytes += size
        self._next_offset = last_offset + 1
        return 0

    def _write(self, position, data):
        try:
            (self.held_file or self.file()).write(position, (data,))
        except StorageError:
            self.file().truncate(position)
            raise
