"""When a segment has had enough and a new one is begun."""

import zlib
from typing import TYPE_CHECKING

from ottla.storage.log_config import LogConfig
from ottla.storage.segment.segment import Segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def is_old(log: "Log", segment: Segment, max_timestamp: int, now_ms: int) -> bool:
    """Whether more than `segment.ms` lies between the segment's first batch and the one to come.

    It is the batches' time that counts, so replicas roll alike; without timestamps it is the segment's age. The
    moment is worked out once for a segment and kept in `log.roll_after_ms`.
    """
    if log.roll_after_ms is None:
        if not segment.size_bytes:
            return False
        wait_ms = log.config.segment_ms_max - jitter_ms(log.config, segment.path())
        first = segment.first_timestamp
        if first is None:
            return now_ms - segment.created_ms > wait_ms
        log.roll_after_ms = first + wait_ms
    return max_timestamp > log.roll_after_ms


def jitter_ms(config: LogConfig, path: str) -> int:
    """What is taken off `segment.ms` for one segment, so that partitions made together don't all roll together.

    It comes from the path, so the same history always rolls in the same places.
    """
    spread = min(config.segment_jitter_ms, config.segment_ms)
    return zlib.crc32(path.encode()) % spread if spread > 0 else 0
