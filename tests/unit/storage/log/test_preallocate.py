"""`preallocate`: files have their full length while they are written to, and end where the batches do afterwards."""

from dataclasses import replace

import pytest

from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.loader import Shutdown
from ottla.storage.log.log import Log
from tests.unit.storage.log_builder import DIRECTORY, NOW_MS, SMALL, append, data_batch, offsets, open_log

CONFIG = replace(SMALL, preallocate=True)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


def file_bytes(disk: SimulatedDisk, base_offset: int) -> int:
    status = disk.status(f"{DIRECTORY}/{base_offset:020d}.log")
    assert status is not None
    return status.size_bytes


def fill(log: Log, count: int) -> None:
    for _ in range(count):
        append(log, data_batch(value=bytes(100)))


def test_a_segment_has_its_length_from_the_start_and_is_trimmed_when_rolled(disk: SimulatedDisk) -> None:
    log = open_log(disk, CONFIG)
    fill(log, 3)
    assert file_bytes(disk, 0) == CONFIG.segment_bytes
    written = log.active_segment.size_bytes
    assert written < CONFIG.segment_bytes
    log.roll(NOW_MS)
    assert (file_bytes(disk, 0), file_bytes(disk, 3)) == (written, CONFIG.segment_bytes)
    fill(log, 2)
    assert offsets(log) == list(range(5))
    assert log.size_bytes == file_bytes(disk, 0) + log.active_segment.size_bytes


def test_a_clean_stop_trims_and_a_clean_start_finds_the_end(disk: SimulatedDisk) -> None:
    log = open_log(disk, CONFIG)
    fill(log, 3)
    log.close(NOW_MS)
    assert file_bytes(disk, 0) == log.size_bytes
    again = open_log(disk, CONFIG, Shutdown.CLEAN, recovery_point=3)
    assert offsets(again) == [0, 1, 2]
    fill(again, 1)
    assert offsets(again) == [0, 1, 2, 3]


@pytest.mark.parametrize("recovery_point", [0, 2, 3])
def test_a_crash_leaves_zeros_that_recovery_cuts_off(disk: SimulatedDisk, recovery_point: int) -> None:
    log = open_log(disk, CONFIG)
    fill(log, 3)
    size = log.size_bytes
    again = open_log(disk, CONFIG, recovery_point=recovery_point)
    assert offsets(again) == [0, 1, 2]
    assert file_bytes(disk, 0) == size


def test_segments_after_one_whose_trim_was_lost_are_kept(disk: SimulatedDisk) -> None:
    log = open_log(disk, CONFIG)
    fill(log, 3)
    log.roll(NOW_MS)
    fill(log, 2)
    disk.open(f"{DIRECTORY}/{0:020d}.log", Access.WRITE).truncate(CONFIG.segment_bytes)
    assert offsets(open_log(disk, CONFIG)) == list(range(5))


def test_a_trim_that_was_lost_after_the_segment_was_flushed_is_done_again(disk: SimulatedDisk) -> None:
    """Flushed up to 3, then rolled at 3: recovery begins behind the segment that ends in zeros again."""
    log = open_log(disk, CONFIG)
    fill(log, 3)
    log.flush(NOW_MS)
    size = log.size_bytes
    log.roll(NOW_MS)
    fill(log, 2)
    disk.open(f"{DIRECTORY}/{0:020d}.log", Access.WRITE).truncate(CONFIG.segment_bytes)
    again = open_log(disk, CONFIG, recovery_point=3)
    assert offsets(again) == list(range(5))
    assert file_bytes(disk, 0) == size


def test_truncation_into_a_preallocated_segment_goes_on_behind_what_is_left(disk: SimulatedDisk) -> None:
    log = open_log(disk, CONFIG)
    fill(log, 4)
    log.truncate_to(2)
    fill(log, 2)
    log.close(NOW_MS)
    again = open_log(disk, CONFIG, Shutdown.CLEAN, recovery_point=4)
    assert offsets(again) == list(range(4))
