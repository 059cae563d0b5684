"""The compiled twin of `end_plain`, with the fields in C; and short ways for appends.

They do what `append_as_leader` and `append_pairs` of `append` do, in the same order: what they are not sure of they leave
alone, before anything was done. Tests write the same with both.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t

from ottla.base._named_tuple cimport named
from ottla.protocol.records._batch cimport Batch
from ottla.storage.segment._end cimport SegmentEnd

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.pair_batch import write_pairs
from ottla.protocol.records.timestamp import TimestampType
from ottla.storage.errors import StorageError
from ottla.storage.log.append_info import NO_LOG_APPEND_TIME, AppendInfo

cdef object CREATE_TIME = TimestampType.CREATE_TIME
cdef object NO_TIME = NO_LOG_APPEND_TIME


cdef class LogEnd:
    cdef readonly object config
    cdef readonly object epochs
    cdef public object producers
    cdef readonly object recompression
    cdef readonly object rules
    cdef readonly tuple tail
    cdef public object offline_error
    cdef public object roll_after_ms
    cdef public int64_t high_watermark
    cdef public int64_t log_start_offset
    cdef SegmentEnd active
    cdef int64_t end_offset
    cdef int64_t segment_bytes
    cdef int64_t message_bytes_max
    cdef int64_t before_max_ms
    cdef int64_t after_max_ms
    cdef bint needs_keys
    cdef bint keeps_batches  # as they come, but for the offsets

    def __init__(self, epochs, producers, int64_t log_start_offset):
        self.epochs, self.producers = epochs, producers
        self.log_start_offset = self.high_watermark = log_start_offset

    def take_settings(self, config, rules, recompression):
        self.config, self.rules, self.recompression = config, rules, recompression
        self.roll_after_ms = None
        self.segment_bytes, self.message_bytes_max = config.segment_bytes, rules.max_message_bytes
        self.before_max_ms, self.after_max_ms = rules.timestamp_before_max_ms, rules.timestamp_after_max_ms
        self.needs_keys = rules.compacted
        self.keeps_batches = recompression is None and rules.timestamp_type is CREATE_TIME

    def advance(self, int64_t log_end_offset, SegmentEnd segment not None):
        self.move(log_end_offset, segment)

    cdef int move(self, int64_t log_end_offset, SegmentEnd segment) except -1:
        end_offset = log_end_offset
        self.tail = (end_offset, segment, segment.size_bytes)
        self.end_offset, self.active = log_end_offset, segment
        self.producers.end_offset = end_offset
        return 0

    def append_committed(self, records, int32_t leader_epoch, int64_t now_ms):
        cdef Batch batch
        cdef int64_t first_offset = self.end_offset, last_offset, latest = INT64_MAX
        if self.offline_error is not None or not self.keeps_batches:
            return None
        try:
            batch = Batch(records)
        except DecodeError:
            return None
        last_offset = first_offset + batch.last_delta()
        if not batch.is_all() or not self.has_room(batch.size, last_offset, batch.latest_timestamp()):
            return None
        if leader_epoch != <int32_t>self.epochs.latest_epoch:
            return None
        if now_ms < latest - self.after_max_ms:
            latest = now_ms + self.after_max_ms
        if batch.is_special() or not batch.in_order(
            self.message_bytes_max, now_ms - self.before_max_ms, latest, self.needs_keys
        ):
            return None
        producer = None
        if batch.has_producer():
            producer = self.producers.in_sequence(batch)
            if producer is None:
                return None
        batch.take_place(first_offset, leader_epoch)
        self.write(records, batch.at, batch.size, last_offset, batch.latest_timestamp())
        if producer is not None:
            producer.add_batch(batch)
        self.commit(last_offset + 1)
        facts = (first_offset, last_offset, batch.latest_timestamp(), NO_TIME, self.log_start_offset, batch.size)
        return named(AppendInfo, facts)

    def append_pairs_committed(self, list pairs not None, int64_t timestamp_ms, int32_t leader_epoch, int64_t now_ms):
        cdef bytearray records
        cdef Py_ssize_t size
        cdef int64_t last_offset = self.end_offset + len(pairs) - 1
        if self.offline_error is not None or not self.keeps_batches or self.needs_look(timestamp_ms, now_ms):
            return None
        if leader_epoch != <int32_t>self.epochs.latest_epoch:
            return None
        records = write_pairs(pairs, timestamp_ms, self.end_offset, leader_epoch)
        size = PyByteArray_GET_SIZE(records)
        if size > self.message_bytes_max or not self.has_room(size, last_offset, timestamp_ms):
            return None
        self.write(records, <const uint8_t *>PyByteArray_AS_STRING(records), size, last_offset, timestamp_ms)
        self.commit(last_offset + 1)
        return last_offset + 1

    cdef bint needs_look(self, int64_t timestamp_ms, int64_t now_ms) noexcept:
        """Whether a timestamp of our own is beyond what the topic allows."""
        cdef int64_t ahead_ms = timestamp_ms - now_ms
        return ahead_ms > self.after_max_ms or -ahead_ms > self.before_max_ms

    cdef bint has_room(self, Py_ssize_t size, int64_t last_offset, int64_t max_timestamp) except -1:
        """Whether the active segment takes a batch without a question."""
        cdef SegmentEnd segment = self.active
        return (
            segment.size_bytes + size <= self.segment_bytes
            and last_offset <= segment.offset_max
            and not segment.is_index_full
            and self.roll_after_ms is not None
            and max_timestamp <= self.roll_after_ms
        )

    cdef int write(
        self, object data, const uint8_t *bytes, Py_ssize_t size, int64_t last_offset, int64_t max_timestamp
    ) except -1:
        """Writes a batch that was checked, or takes the log offline."""
        try:
            return self.active.add(data, bytes, size, last_offset, max_timestamp)
        except StorageError as error:
            if self.offline_error is None and not error.is_passing:
                self.offline_error = error
            raise

    cdef int commit(self, int64_t end_offset) except -1:
        """Moves log end and high watermark behind what was written."""
        self.move(end_offset, self.active)
        if end_offset > self.high_watermark:
            self.high_watermark = end_offset
            transactions = self.producers.transactions
            if transactions.unreplicated:
                transactions.replicated(end_offset)
        return 0
