"""Opening a partition's directory: after a clean stop, after a crash, with leftovers and damage."""

import os
from pathlib import Path

import pytest

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.unit.storage.log_builder import (
    DIRECTORY,
    NOW_MS,
    SMALL,
    append,
    data_batch,
    offsets,
    open_log,
    produced,
)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Segments from 0 (four batches), 8 and 16; flushed up to 8."""
    made = open_log(disk)
    for index in range(10):
        append(made, produced(7, 0, index - 1, 2) if index % 2 else data_batch(2, value=bytes(200)), 3)
        if index in (3, 7):
            made.roll(NOW_MS)
        if index == 3:
            made.flush(NOW_MS)
    assert [segment.base_offset for segment in made.segments] == [0, 8, 16]
    return made


def test_new_log_is_empty(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes, len(log.segments)) == (0, 0, 0, 1)
    assert open_log(disk, log_start_offset=40).log_end_offset == 40


def test_clean_stop_leaves_everything_in_place(disk: SimulatedDisk, log: Log) -> None:
    log.close(NOW_MS)
    names = set(disk.list(DIRECTORY))
    assert {"00000000000000000020.snapshot", "00000000000000000016.index", "leader-epoch-checkpoint"} <= names
    again = open_log(disk, shutdown=Shutdown.CLEAN, recovery_point=20)
    assert offsets(again) == list(range(20))
    assert again.producers.entries[7].last_sequence == 9
    assert again.epochs.entries == ((3, 0),)
    assert again.recovery_point == 20


def test_stop_without_notice_costs_a_scan_and_nothing_else(disk: SimulatedDisk, log: Log) -> None:
    again = open_log(disk, recovery_point=8)
    assert offsets(again) == list(range(20))
    assert again.producers.entries[7].last_sequence == 9
    assert again.snapshots.offsets == [8, 16]


@pytest.mark.parametrize("cut", [1, 30, 70])
def test_torn_tail_is_cut_off(disk: SimulatedDisk, log: Log, cut: int) -> None:
    file = disk.open(log.active_segment.path(), Access.WRITE)
    file.truncate(file.size() - cut)
    again = open_log(disk, recovery_point=8)
    assert again.log_end_offset == 18
    assert append(again, data_batch()).first_offset == 18


def flip(disk: SimulatedDisk, base_offset: int, position: int) -> None:
    path = f"{DIRECTORY}/{base_offset:020d}.log"
    file = disk.open(path, Access.WRITE)
    byte = file.read(position, 1)[0]
    file.write(position, [bytes([byte ^ 1])])


def test_everything_behind_a_broken_batch_goes(disk: SimulatedDisk, log: Log) -> None:
    flip(disk, 8, 400)
    again = open_log(disk, recovery_point=8)
    assert offsets(again) == list(range(8))
    assert [segment.base_offset for segment in again.segments] == [0, 8]
    assert again.producers.entries[7].last_sequence == 3
    assert again.snapshots.offsets == [8]


def test_broken_batch_that_was_flushed_stops_the_log(disk: SimulatedDisk, log: Log) -> None:
    flip(disk, 8, 400)
    before = read_whole(disk, f"{DIRECTORY}/{8:020d}.log")
    with pytest.raises(CorruptFileError, match=r"00000000000000000008\.log.*CRC"):
        open_log(disk, recovery_point=15)
    assert read_whole(disk, f"{DIRECTORY}/{8:020d}.log") == before


def test_segment_that_lost_its_end_takes_the_later_ones_along(disk: SimulatedDisk, log: Log) -> None:
    whole = [batch.size for batch in log.segments.all()[1].scan()]
    disk.open(f"{DIRECTORY}/{8:020d}.log", Access.WRITE).truncate(sum(whole[:-1]))
    again = open_log(disk, recovery_point=8)
    assert offsets(again) == list(range(14))


def test_lost_snapshots_are_made_up_for_by_reading(disk: SimulatedDisk, log: Log) -> None:
    log.close(NOW_MS)
    for name in disk.list(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.remove(f"{DIRECTORY}/{name}")
    again = open_log(disk, shutdown=Shutdown.CLEAN)
    assert again.producers.entries[7].last_sequence == 9


def test_wrong_index_after_a_clean_stop_hands_out_no_offset_twice(disk: SimulatedDisk, log: Log) -> None:
    log.close(NOW_MS)
    for base_offset in (0, 8, 16):
        file = disk.open(f"{DIRECTORY}/{base_offset:020d}.index", Access.WRITE)
        file.truncate(0)
    again = open_log(disk, shutdown=Shutdown.CLEAN)
    assert again.log_end_offset == 20
    assert offsets(again) == list(range(20))


def test_leftovers_are_cleared_away(disk: SimulatedDisk, log: Log) -> None:
    for name in (
        f"{0:020d}.log.deleted",
        f"{8:020d}.log.cleaned",
        f"{8:020d}.index.swap",
        f"{99:020d}.index",
        "checkpoint.tmp",
        "unknown",
    ):
        disk.open(f"{DIRECTORY}/{name}", Access.CREATE).write(0, [b"x"])
    again = open_log(disk, recovery_point=8)
    assert offsets(again) == list(range(20))
    left = set(disk.list(DIRECTORY))
    assert "unknown" in left
    assert not any(name.endswith((".log.deleted", ".cleaned", ".swap", ".tmp")) for name in left)
    assert f"{99:020d}.index" not in left


def test_swap_is_completed(disk: SimulatedDisk, log: Log) -> None:
    """The first two segments were merged, and the power went before the new one got its name."""
    merged = b"".join(bytes(batch.data) for segment in log.segments.all()[:2] for batch in segment.scan())
    log.close(NOW_MS)
    disk.open(f"{DIRECTORY}/{0:020d}.log.swap", Access.CREATE).write(0, [merged])
    again = open_log(disk, shutdown=Shutdown.CLEAN)
    assert [segment.base_offset for segment in again.segments] == [0, 16]
    assert offsets(again) == list(range(20))
    assert read_whole(disk, f"{DIRECTORY}/{0:020d}.log") == merged


def test_epochs_outside_of_the_log_are_forgotten(disk: SimulatedDisk, log: Log) -> None:
    write_atomically(disk, f"{DIRECTORY}/leader-epoch-checkpoint", b"0\n3\n1 0\n3 4\n5 30\n")
    again = open_log(disk, log_start_offset=10)
    assert again.epochs.entries == ((3, 10),)


def test_log_start_beyond_what_is_left_starts_over(disk: SimulatedDisk, log: Log) -> None:
    again = open_log(disk, log_start_offset=50)
    assert (again.log_start_offset, again.log_end_offset) == (50, 50)
    assert append(again, data_batch()).first_offset == 50


def test_renamed_directory_goes_on_until_it_is_deleted(disk: SimulatedDisk, log: Log) -> None:
    log.relocate("/data/orders-0.abc-delete")
    assert offsets(log) == list(range(20))
    log.delete()
    assert disk.list("/data") == []


def test_truncation_rewinds_producers_epochs_and_recovery_point(disk: SimulatedDisk, log: Log) -> None:
    log.flush(NOW_MS)
    assert log.truncate_to(9)
    assert (log.log_end_offset, log.recovery_point) == (8, 8), "the batch [8,9] reaches beyond 9"
    assert not log.truncate_to(8)
    assert log.producers.entries[7].last_sequence == 3
    append(log, data_batch(), 9)
    log.truncate_fully_and_start_at(100)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (100, 100, 100)
    assert log.producers.entries == {}
    assert log.epochs.entries == ()
    assert append(log, data_batch(), 9).first_offset == 100
    assert offsets(open_log(disk, SMALL)) == [100]


@pytest.mark.parametrize("shutdown", list(Shutdown))
@pytest.mark.parametrize("noise", [None, b"", b"noise", b"0\n9\n3 0\n", b"0\n1\n3\n", b"\xff\xfe", b"7\n1\n3 0\n"])
def test_a_lost_history_of_epochs_is_read_from_the_batches(
    disk: SimulatedDisk, log: Log, shutdown: Shutdown, noise: bytes | None
) -> None:
    append(log, data_batch(), 5)
    append(log, data_batch(), 7)
    log.close(NOW_MS)
    path = f"{DIRECTORY}/leader-epoch-checkpoint"
    if noise is None:
        disk.remove(path)
    else:
        write_atomically(disk, path, noise)
    again = open_log(disk, shutdown=shutdown, recovery_point=22)
    assert again.epochs.entries == ((3, 0), (5, 20), (7, 21))
    again.close(NOW_MS)
    assert read_whole(disk, f"{DIRECTORY}/leader-epoch-checkpoint") == b"0\n3\n3 0\n5 20\n7 21\n"


def test_a_crash_before_the_first_flush_loses_no_history(disk: SimulatedDisk, caplog: pytest.LogCaptureFixture) -> None:
    log = open_log(disk)
    append(log, data_batch(), 5)
    append(log, data_batch(), 7)
    assert "leader-epoch-checkpoint" not in disk.list(DIRECTORY)
    again = open_log(disk)
    assert again.epochs.entries == ((5, 0), (7, 1))
    again.flush(NOW_MS)
    assert read_whole(disk, f"{DIRECTORY}/leader-epoch-checkpoint") == b"0\n2\n5 0\n7 1\n"
    assert caplog.messages == []


def test_an_empty_log_has_no_history_to_lose(disk: SimulatedDisk) -> None:
    open_log(disk).close(NOW_MS)
    open_log(disk, shutdown=Shutdown.CLEAN)
    assert "leader-epoch-checkpoint" not in disk.list(DIRECTORY)


def test_recovery_holds_no_file_open(tmp_path: Path) -> None:
    log = Log.open(LocalDisk(), f"{tmp_path}/orders-0", SMALL, LoadOptions("orders", 0, NOW_MS))
    for _ in range(3):
        append(log, data_batch(2))
        log.roll(NOW_MS)
    del log
    before = len(os.listdir("/proc/self/fd"))
    again = Log.open(LocalDisk(), f"{tmp_path}/orders-0", SMALL, LoadOptions("orders", 0, NOW_MS, recovery_point=2))
    assert len(os.listdir("/proc/self/fd")) == before
    assert offsets(again) == list(range(6))


@pytest.mark.parametrize("shutdown", [Shutdown.CLEAN, Shutdown.DAMAGED])
@pytest.mark.parametrize("is_gone", [True, False])
def test_offsets_that_were_flushed_are_not_given_out_again(
    disk: SimulatedDisk, shutdown: Shutdown, *, is_gone: bool
) -> None:
    log = open_log(disk)
    first = append(log, data_batch(2))
    append(log, data_batch(3))
    log.close(NOW_MS)
    path = log.active_segment.path()
    if is_gone:
        disk.remove(path)
    else:
        # The cut leaves whole batches, so nothing in the file itself looks wrong.
        disk.open(path, Access.WRITE).truncate(first.size_bytes)
    with pytest.raises(CorruptFileError, match=f"ends at offset {0 if is_gone else 2}, though everything below 5 was"):
        open_log(disk, shutdown=shutdown, recovery_point=5)


def test_after_a_crash_a_log_may_end_before_its_recovery_point(
    disk: SimulatedDisk, caplog: pytest.LogCaptureFixture
) -> None:
    log = open_log(disk)
    append(log, data_batch(2))
    log.close(NOW_MS)
    assert open_log(disk, shutdown=Shutdown.UNCLEAN, recovery_point=5).log_end_offset == 2
    assert "the log ends at offset 2, though everything below 5 was on the disk" in caplog.text


def test_recovery_of_a_log_waits_for_the_disk_once(disk: SimulatedDisk) -> None:
    """After a crash every log of a broker goes this way: tens of thousands, one flush of a directory each."""
    log = open_log(disk, LogConfig())
    for sequence in range(20):
        append(log, produced(7, 0, sequence), 3)
    flushed: list[str] = []
    check = disk.check

    def note(operation: str, path: str) -> None:
        if operation == "flush":
            flushed.append(path)
        check(operation, path)

    disk.check = note  # type: ignore[method-assign]
    again = open_log(disk, LogConfig())
    assert len(flushed) <= 1
    assert (offsets(again), again.epochs.entries) == (list(range(20)), ((3, 0),))
