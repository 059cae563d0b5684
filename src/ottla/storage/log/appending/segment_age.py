"""Decides when a segment is too old for another batch (`segment.ms`).

The timestamps of the batches count, so that replicas roll alike; without timestamps it is the age of the segment.
"""

import zlib
from typing import NamedTuple

from ottla.storage.log_config import LogConfig


class SegmentAge(NamedTuple):
    """The facts about a segment that decide when it is rolled."""

    path: str
    first_timestamp: int | None
    """The largest timestamp of its first batch; None if there is none."""
    created_ms: int

    def is_past(self, config: LogConfig, max_timestamp: int, now_ms: int) -> bool:
        """Whether a batch with this timestamp comes too late."""
        due_ms = self.due_ms(config)
        return now_ms - self.created_ms > _wait_ms(config, self.path) if due_ms is None else max_timestamp > due_ms

    def due_ms(self, config: LogConfig) -> int | None:
        """Batches up to this timestamp fit; None if that is not a matter of timestamps."""
        return None if self.first_timestamp is None else self.first_timestamp + _wait_ms(config, self.path)


def _wait_ms(config: LogConfig, path: str) -> int:
    return config.segment_ms_max - jitter_ms(config, path)


def jitter_ms(config: LogConfig, path: str) -> int:
    """The time by which a segment is rolled before `segment.ms`, so that partitions made together don't roll together.

    It comes from the path, so the same history always rolls in the same places.
    """
    spread = min(config.segment_jitter_ms, config.segment_ms)
    return zlib.crc32(path.encode()) % spread if spread > 0 else 0
