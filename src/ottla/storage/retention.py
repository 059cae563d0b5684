"""Which old segments go: those before the log start, those beyond `retention.bytes`, those older than `retention.ms`.

Whole segments only, oldest first, and none that reaches past the high watermark. The active segment may go too, if it
is too old and no append is on its way to it: a new one is begun in its place. Compacted topics without `delete` lose
only what lies before the log start.

Worked example, `retention.bytes` 100, segments of 40, 40, 40, 10 bytes (130 in all): 30 too many, the first segment
has 40, so it stays. With 40, 40, 40, 20 there are 40 too many: the first goes. One of 500 bytes alone stays.

Age is that of the records' own timestamps, as in Apache Kafka: records of 1970 go with the first round after they were
written, and their producers' state with them. That surprises users, so a warning names the topic.
"""

import logging
from collections.abc import Callable
from typing import Final

from ottla.base.clock import Clock
from ottla.base.log_limit import LimitedLog
from ottla.protocol.records.timestamp import NO_TIMESTAMP
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.log import Log
from ottla.storage.segment.segment import Segment

_log = logging.getLogger(__name__)

_DAY_MS: Final = 24 * 60 * 60 * 1000
_UNITS: Final = (("years", 365 * _DAY_MS), ("days", _DAY_MS), ("hours", _DAY_MS // 24), ("minutes", 60_000))


class OldTimestampWarning:
    """Says once a day of a topic that its records expire by their own timestamps, however new they are."""

    def __init__(self, clock: Clock) -> None:
        self._said: Final = LimitedLog(_log, clock, interval_ms=_DAY_MS)

    def tell(self, log: Log, segment: Segment, now_ms: int) -> None:
        """Warns if an expired segment was written within the time that the topic keeps its records."""
        if now_ms - segment.modified_ms() > log.config.retention_ms:
            return
        excess_ms = now_ms - newest_ms(segment) - log.config.retention_ms
        self._said.warning(
            log.topic,
            "Records of topic %s are deleted though they were written lately: their newest timestamp, %d, is %s older "
            "than retention.ms allows; set retention.ms=-1, or message.timestamp.type=LogAppendTime, to keep them",
            log.topic,
            newest_ms(segment),
            _duration(excess_ms),
        )


def _duration(ms: int) -> str:
    """In the largest unit of which there are two.

    >>> _duration(56 * 365 * _DAY_MS), _duration(90 * 60_000), _duration(1_500)
    ('56 years', '90 minutes', '1.5 seconds')
    """
    for name, unit_ms in _UNITS:
        if ms >= 2 * unit_ms:
            return f"{ms // unit_ms} {name}"
    return f"{ms / 1000:g} seconds"


def delete_old_segments(log: Log, now_ms: int, warning: OldTimestampWarning | None = None) -> int:
    """Drops what the log's settings no longer want; how many segments went."""
    deleted = _delete_while(log, lambda segment, following: _is_before_start(log, following), now_ms)
    if log.config.delete:
        deleted += _delete_while(log, _beyond_size(log), now_ms)
        deleted += _delete_while(log, _beyond_age(log, now_ms, warning), now_ms)
    return deleted


def wants_all(log: Log, now_ms: int) -> bool:
    """Whether not even the active segment would stay."""
    config, segments = log.config, log.segments.all()
    if not (config.delete and segments[-1].size_bytes and _may_end(log, None)):
        return False
    if config.retention_bytes == 0:
        return True
    return config.retention_ms >= 0 and all(
        now_ms - newest_ms(segment) > config.retention_ms for segment in reversed(segments)
    )


def _may_end(log: Log, following: Segment | None) -> bool:
    """Whether the segment before one may go, or the active one: it is replicated, and no append is on its way to it."""
    if following is None:
        return log.backlog is None and log.high_watermark >= log.log_end_offset
    return log.high_watermark >= following.base_offset


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


def _beyond_age(
    log: Log, now_ms: int, warning: OldTimestampWarning | None
) -> Callable[[Segment, Segment | None], bool]:
    retention_ms = log.config.retention_ms

    def is_expired(segment: Segment, following: Segment | None) -> bool:
        if retention_ms < 0 or now_ms - newest_ms(segment) <= retention_ms:
            return False
        if warning is not None:
            warning.tell(log, segment, now_ms)
        return True

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
        # Deleting up to the high watermark at most keeps the log start offset from passing it.
        if not _may_end(log, following) or not is_unwanted(segment, following):
            if following is not None:
                segment.release()
            break
        doomed.append(segment)
    if doomed:
        log.delete_segments(doomed, now_ms)
    return len(doomed)
