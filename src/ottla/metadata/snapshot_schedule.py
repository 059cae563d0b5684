"""Decides when a node writes a snapshot of its image: after so many bytes of records, or after so much time."""

from typing import Final

BYTES_MAX: Final = 20 * 1024 * 1024
INTERVAL_MS: Final = 3_600_000


class SnapshotSchedule:
    """Counts what was loaded since the last snapshot.

    `bytes_max` is `metadata.log.max.record.bytes.between.snapshots`, `interval_ms` is
    `metadata.log.max.snapshot.interval.ms`, where 0 means that time alone never makes one due.

    >>> schedule = SnapshotSchedule(now_ms=0)
    >>> schedule.loaded(20 * 1024 * 1024)
    >>> schedule.why_due(now_ms=5)
    'we have replayed at least 20971520 bytes'
    """

    def __init__(self, *, now_ms: int, bytes_max: int = BYTES_MAX, interval_ms: int = INTERVAL_MS) -> None:
        self._bytes_max = bytes_max
        self._interval_ms = interval_ms
        self._loaded_bytes = 0
        self._last_ms = now_ms

    def loaded(self, size_bytes: int) -> None:
        """Batches of that size were loaded."""
        self._loaded_bytes += size_bytes

    def why_due(self, now_ms: int) -> str | None:
        """The reason for a snapshot now, or None if there is none. Without a new record there never is."""
        if self._loaded_bytes >= self._bytes_max:
            return f"we have replayed at least {self._bytes_max} bytes"
        if self._loaded_bytes and self._interval_ms and now_ms - self._last_ms >= self._interval_ms:
            return f"we have waited at least {self._interval_ms // 60_000} minute(s)"
        return None

    def taken(self, now_ms: int) -> None:
        """A snapshot was written, or loaded."""
        self._loaded_bytes = 0
        self._last_ms = now_ms
