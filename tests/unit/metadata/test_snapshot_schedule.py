"""When snapshots are due."""

from ottla.metadata.snapshot_schedule import SnapshotSchedule


def test_by_bytes() -> None:
    schedule = SnapshotSchedule(now_ms=0, bytes_max=100)
    schedule.loaded(99)
    assert schedule.why_due(now_ms=0) is None
    schedule.loaded(1)
    assert schedule.why_due(now_ms=0) == "we have replayed at least 100 bytes"
    schedule.taken(now_ms=0)
    assert schedule.why_due(now_ms=0) is None


def test_by_time_if_anything_was_loaded() -> None:
    schedule = SnapshotSchedule(now_ms=0)
    assert schedule.why_due(now_ms=3_600_000) is None
    schedule.loaded(1)
    assert schedule.why_due(now_ms=3_599_999) is None
    assert schedule.why_due(now_ms=3_600_000) == "we have waited at least 60 minute(s)"
    schedule.taken(now_ms=3_600_000)
    schedule.loaded(1)
    assert schedule.why_due(now_ms=7_199_999) is None


def test_time_can_be_left_out() -> None:
    schedule = SnapshotSchedule(now_ms=0, interval_ms=0)
    schedule.loaded(1)
    assert schedule.why_due(now_ms=10**12) is None
