"""Measures the dirty part of a log, and the part that may be cleaned.

Dirty is the part behind the last round's end. Never cleaned are the active segment, offsets above the last stable one,
and records younger than `min.compaction.lag.ms`. The log with the largest dirty share goes first, if that share is
above `min.cleanable.dirty.ratio` or `max.compaction.lag.ms` is over.

Worked example: segments 0, 100, 200 (active), cleaned up to 100, last stable offset 250, each 10 MB. Dirty is 100 to
200, 10 of 20 MB: ratio 0.5, which is not above 0.5, so the log has to wait.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ottla.storage.log.log import Log
from ottla.storage.retention import newest_ms
from ottla.storage.segment.segment import Segment
from ottla.storage.topic_partition import TopicPartition


class Cleanable(NamedTuple):
    """A log and what a round would do to it."""

    partition: TopicPartition
    log: Log
    first_dirty_offset: int
    end_offset: int
    """The base offset of the first segment that must not be touched."""
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool
    """Whether something waits for longer than `max.compaction.lag.ms`."""

    @property
    def dirty_ratio(self) -> float:
        """The share of what could be cleaned that is dirty."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        """Whether it should be cleaned now."""
        if not self.dirty_bytes:
            return False
        return self.is_overdue or self.dirty_ratio > self.log.config.min_cleanable_dirty_ratio

    def segments(self) -> list[Segment]:
        """The segments that a round may rewrite, oldest first."""
        return [segment for segment in self.log.segments if segment.base_offset < self.end_offset]


def examine(partition: TopicPartition, log: Log, clean_offset: int | None, now_ms: int) -> Cleanable:
    """The part of a log to clean; `clean_offset` is the end of the last round, by the checkpoint."""
    first_dirty = log.log_start_offset if clean_offset is None else clean_offset
    if not log.log_start_offset <= first_dirty <= log.log_end_offset:
        # The checkpoint is of another life of the log: cut off, or deleted in front.
        first_dirty = log.log_start_offset
    segments = log.segments.all()
    closed = segments[:-1]
    dirty = _from_offset(closed, first_dirty)
    limit = min(log.last_stable_offset, segments[-1].base_offset, _first_young_offset(log, dirty, now_ms))
    limit = max(limit, first_dirty)
    beyond = _from_offset(closed, limit)
    end_offset = beyond[0].base_offset if beyond else segments[-1].base_offset
    return Cleanable(
        partition,
        log,
        first_dirty,
        end_offset,
        clean_bytes=sum(segment.size_bytes for segment in closed if segment.base_offset < min(first_dirty, end_offset)),
        dirty_bytes=sum(segment.size_bytes for segment in dirty if segment.base_offset < end_offset),
        is_overdue=_is_overdue(log, dirty, now_ms),
    )


def _from_offset(segments: Sequence[Segment], offset: int) -> Sequence[Segment]:
    """The segment that holds the offset and those after it; none if it lies behind the last."""
    for index, segment in enumerate(segments):
        following = segments[index + 1].base_offset if index + 1 < len(segments) else None
        if following is None:
            return segments[index:] if _ends_after(segment, offset) else ()
        if following > offset:
            return segments[index:]
    return ()


def _ends_after(segment: Segment, offset: int) -> bool:
    return segment.base_offset >= offset or segment.next_offset > offset


def _first_young_offset(log: Log, dirty: Sequence[Segment], now_ms: int) -> int:
    """The base of the first segment whose newest record is younger than the minimum lag, else the log end."""
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in dirty:
            if newest_ms(segment) > now_ms - lag_ms:
                return segment.base_offset
    return log.log_end_offset


def _is_overdue(log: Log, dirty: Sequence[Segment], now_ms: int) -> bool:
    limit_ms = now_ms - log.config.max_compaction_lag_ms
    return limit_ms > 0 and any(0 < (segment.first_timestamp or 0) < limit_ms for segment in dirty)
