"""Segments that compaction puts in the place of others, and what goes with those."""

import pytest

from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.loader import Shutdown
from ottla.storage.log.log import Log
from ottla.storage.segment.segment import Segment
from tests.unit.storage.log_builder import NOW_MS, SMALL, append, open_log, produced, replace_segments


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Segments of two records from 0, 2, 4, 6 and 8, all of one producer; the snapshot of a stop at 3 between them."""
    made = open_log(disk)
    for sequence in range(10):
        append(made, produced(7, 0, sequence))
        if sequence == 2:
            made.snapshots.write(made.log_end_offset, made.producers.entries.values())
        if sequence in (1, 3, 5, 7):
            made.roll(NOW_MS)
    made.flush(NOW_MS)
    assert made.snapshots.offsets == [2, 3, 4, 6, 8]
    return made


def _compact(disk: SimulatedDisk, log: Log, first: int, count: int) -> None:
    """Puts one segment with the last record in the place of `count`."""
    old = log.segments.all()[first : first + count]
    cleaned = Segment.create(disk, log.directory, old[0].base_offset, SMALL, suffix=".cleaned")
    *_, kept = old[-1].scan()
    cleaned.append(kept.data, kept.last_offset, kept.max_timestamp)
    cleaned.seal()
    cleaned.flush()
    replace_segments(log, old, [cleaned])


def test_snapshots_go_with_the_segments_that_they_begin(disk: SimulatedDisk, log: Log) -> None:
    _compact(disk, log, 0, 3)
    assert [segment.base_offset for segment in log.segments] == [0, 6, 8]
    assert log.snapshots.offsets == [6, 8]
    assert sorted(name for name in disk.list(log.directory) if name.endswith(".snapshot")) == [
        f"{offset:020d}.snapshot" for offset in (6, 8)
    ]


def test_the_snapshot_of_a_segment_that_was_only_cleaned_stays(disk: SimulatedDisk, log: Log) -> None:
    _compact(disk, log, 1, 3)
    assert [segment.base_offset for segment in log.segments] == [0, 2, 8]
    assert log.snapshots.offsets == [2, 8]


def test_producers_are_known_after_a_start(disk: SimulatedDisk, log: Log) -> None:
    _compact(disk, log, 0, 4)
    after_crash = open_log(disk, recovery_point=8)
    assert after_crash.producers.entries[7].last_sequence == 9
    after_crash.close(NOW_MS)
    assert open_log(disk, shutdown=Shutdown.CLEAN, recovery_point=10).producers.entries[7].last_sequence == 9
