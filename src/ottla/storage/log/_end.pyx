"""The compiled twin of `end_plain`, with the fields in C; and a short way for the append that nearly every one is.

It does what `append_as_leader` of `appending.append` does, in the same order: what it is not sure of it leaves alone,
before anything was done. Tests write the same with both.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.time cimport time_t

from ottla.base._named_tuple cimport named
from ottla.protocol.records._batch cimport Batch
from ottla.storage.segment._end cimport SegmentEnd

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.timestamp import TimestampType
from ottla.storage.disk.pace import SLOW_SECONDS, UNWATCHED
from ottla.storage.errors import StorageError
from ottla.storage.log.append_info import NO_LOG_APPEND_TIME, AppendInfo

cdef extern from "<time.h>" nogil:
    cdef struct timespec:
        time_t tv_sec
        long tv_nsec
    const int CLOCK_MONOTONIC_COARSE
    int clock_gettime(int clock, timespec *now)

cdef object CREATE_TIME = TimestampType.CREATE_TIME
cdef object NO_TIME = NO_LOG_APPEND_TIME
cdef int64_t SLOW_NS = int(SLOW_SECONDS * 1_000_000_000)


cdef class LogEnd:
    cdef readonly object config
    cdef readonly object epochs
    cdef public object producers
    cdef readonly object recompression
    cdef readonly object rules
    cdef readonly tuple tail
    cdef public object offline_error
    cdef public object backlog
    cdef public object pace
    cdef public object roll_after_ms
    cdef public bint is_deferring
    cdef readonly int64_t high_watermark
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
        self.pace = UNWATCHED

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
        self.producers.end_offset = end_offset
        self.end_offset, self.active = log_end_offset, segment
        self.tail = (end_offset, segment, segment.size_bytes)
        return 0

    def update_high_watermark(self, int64_t offset):
        self.replicated_to(min(max(offset, self.log_start_offset), self.end_offset))
        return self.high_watermark

    cdef int replicated_to(self, int64_t high_watermark) except -1:
        self.high_watermark = high_watermark
        transactions = self.producers.transactions
        if transactions.unreplicated:
            transactions.replicated(high_watermark)
        return 0

    def append_plain(self, records, int32_t leader_epoch, int64_t now_ms):
        return self.append_in_order(records, leader_epoch, now_ms)

    def append_committed(self, records, int32_t leader_epoch, int64_t now_ms):
        info = self.append_in_order(records, leader_epoch, now_ms)
        if info is not None and self.end_offset > self.high_watermark:
            self.replicated_to(self.end_offset)
        return info


    cdef object append_in_order(self, records, int32_t leader_epoch, int64_t now_ms):
        cdef Batch batch
        cdef int64_t first_offset = self.end_offset, last_offset, latest = INT64_MAX
        if self.offline_error is not None or not self.keeps_batches:
            return None
        if self.is_deferring or self.backlog is not None:
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
        self.write(records, batch, last_offset)
        if producer is not None:
            producer.add_batch(batch)
        self.move(last_offset + 1, self.active)
        facts = (first_offset, last_offset, batch.latest_timestamp(), NO_TIME, self.log_start_offset, batch.size)
        return named(AppendInfo, facts)

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

    cdef int write(self, object data, Batch batch, int64_t last_offset) except -1:
        """Writes a batch that was checked, or takes the log offline. The clock costs no system call."""
        cdef timespec begun, ended
        cdef int64_t spent_ns
        clock_gettime(CLOCK_MONOTONIC_COARSE, &begun)
        try:
            self.active.add(data, batch.at, batch.size, last_offset, batch.latest_timestamp())
        except StorageError as error:
            if self.offline_error is None and not error.is_passing:
                self.offline_error = error
            raise
        clock_gettime(CLOCK_MONOTONIC_COARSE, &ended)
        spent_ns = (ended.tv_sec - begun.tv_sec) * 1_000_000_000 + ended.tv_nsec - begun.tv_nsec
        if spent_ns >= SLOW_NS:
            self.pace.took(spent_ns / 1e9)
        return 0
