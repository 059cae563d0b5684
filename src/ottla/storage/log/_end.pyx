"""The compiled twin of `end_plain`, with the fields in C; and the short way for an append.

That one does what `append.append_as_leader` does, in the same order: what it is not sure of it leaves alone, before
anything was done. Tests write the same with both.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t

from ottla.protocol.records._batch cimport Batch
from ottla.storage.segment._end cimport SegmentEnd

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.timestamp import TimestampType
from ottla.storage.errors import StorageError
from ottla.storage.log.append_info import NO_LOG_APPEND_TIME, AppendInfo

cdef object CREATE_TIME = TimestampType.CREATE_TIME
cdef object NO_TIME = NO_LOG_APPEND_TIME
cdef object new_tuple = tuple.__new__


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
        cdef SegmentEnd segment = self.active
        if self.offline_error is not None or not self.keeps_batches:
            return None
        try:
            batch = Batch(records)
        except DecodeError:
            return None
        last_offset = first_offset + batch.last_delta()
        if not self.has_room(batch, last_offset) or leader_epoch != <int32_t>self.epochs.latest_epoch:
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
        try:
            segment.add(records, batch.at, batch.size, last_offset, batch.latest_timestamp())
        except StorageError as error:
            self.offline_error = error
            raise
        if producer is not None:
            producer.add_batch(batch)
        self.move(last_offset + 1, segment)
        if last_offset >= self.high_watermark:
            self.high_watermark = last_offset + 1
            self.producers.transactions.replicated(last_offset + 1)
        return new_tuple(
            AppendInfo,
            (first_offset, last_offset, batch.latest_timestamp(), NO_TIME, self.log_start_offset, batch.size),
        )

    cdef bint has_room(self, Batch batch, int64_t last_offset) except -1:
        """Whether the active segment takes the batch, the only one in its buffer, without a question."""
        cdef SegmentEnd segment = self.active
        return (
            batch.is_all()
            and segment.size_bytes + batch.size <= self.segment_bytes
            and last_offset <= segment.offset_max
            and not segment.is_index_full
            and self.roll_after_ms is not None
            and batch.latest_timestamp() <= self.roll_after_ms
        )
