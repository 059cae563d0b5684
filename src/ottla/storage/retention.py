"""Which old segments go: those before the log start, those beyond `retention.bytes`, those older than `retention.ms`.

Whole segments only, oldest first, and none that reaches past the high watermark. The active segment may go too, if it
is too old: a new one is begun in its place. Compacted topics without `delete` lose only what lies before the log start.

Worked example, `retention.bytes` 100, segments of 40, 40, 40, 10 bytes (130 in all): 30 too many, the first segment
has 40, so it stays. With 40, 40, 40, 20 there are 40 too many: the first goes. One of 500 bytes alone stays.
"""

import logging
from collections.abc import Callable

from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.log import Log
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)


def delete_old_segments(log: Log, now_ms: int) -> int:
    """Drops what the log's settings no longer want; how many segments went."""
    deleted = _delete_while(log, lambda segment, following: _is_before_start(log, following), now_ms)
    if log.config.delete:
        deleted += _delete_while(log, _beyond_size(log), now_ms)
        deleted += _delete_while(log, _beyond_age(log, now_ms), now_ms)
    return deleted


def _is_before_start(log: Log, following: Segment | None) -> bool:
    return following is not None and following.base_offset <= log.log_start_offset


def _beyond_size(log: Log) -> Callable[[Segment, Segment | None], bool]:
    excess = log.size_bytes - log.config.retention_bytes if log.config.retention_bytes >= 0 else -1

    def is_excess(segment: Segment, following: Segment | None) -> bool:
        nonlocal excess
        if excess < segment.size_bytes:
            return False
        excess -= segment.size_bytes
        return True

    return is_excess


def _beyond_age(log: Log, now_ms: int) -> Callable[[Segment, Segment | None], bool]:
    retention_ms = log.config.retention_ms

    def is_expired(segment: Segment, following: Segment | None) -> bool:
        return retention_ms >= 0 and now_ms - newest_ms(segment) > retention_ms

    return is_expired


def newest_ms(segment: Segment) -> int:
    """The largest timestamp of the segment's records, or its file's age if they have none or cannot be read."""
    try:
        timestamp = segment.max_timestamp
    except CorruptFileError as error:
        _log.error("damaged; retention goes by the file's age: %s", error)
        timestamp = NO_TIMESTAMP
    return timestamp if timestamp >= 0 else segment.modified_ms()


def _delete_while(log: Log, is_unwanted: Callable[[Segment, Segment | None], bool], now_ms: int) -> int:
    doomed: list[Segment] = []
    segments = log.segments.all()
    for segment, following in zip(segments, (*segments[1:], None), strict=True):
        if following is None and not segment.size_bytes:
            break
        end_offset = log.log_end_offset if following is None else following.base_offset
        # Deleting up to the high watermark at most keeps the log start offset from passing it.
        if log.high_watermark < end_offset or not is_unwanted(segment, following):
            if following is not None:
                segment.release()
            break
        doomed.append(segment)
    if doomed:
        log.delete_segments(doomed, now_ms)
    return len(doomed)
