"""Closed segments are flushed in the background, and a crash reads what lies behind the recovery point only."""

from collections.abc import Callable

import pytest

from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log
from ottla.storage.roll_flush import RollFlush
from tests.unit.storage.cleaner.cleaning import ManualClock
from tests.unit.storage.log_builder import NOW_MS, append, data_batch, offsets, open_log


class Flushing:
    """A flusher whose worker runs when the test says so."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], None]] = []
        self.failures: list[StorageError] = []
        self.flush = RollFlush(ManualClock(), self.failures.append)
        self.flush.start(self.jobs.append)

    def run(self) -> None:
        while self.jobs:
            self.jobs.pop(0)()


class WatchedDisk(SimulatedDisk):
    """Notes which files are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()

    def check(self, operation: str, path: str) -> None:
        if operation == "read":
            self.read.add(path.rpartition("/")[2])
        super().check(operation, path)


@pytest.fixture
def disk() -> WatchedDisk:
    made = WatchedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def flushing() -> Flushing:
    return Flushing()


@pytest.fixture
def log(disk: WatchedDisk, flushing: Flushing) -> Log:
    made = open_log(disk)
    made.rolled = flushing.flush.request
    return made


def test_a_roll_has_what_was_closed_flushed_later(log: Log, flushing: Flushing) -> None:
    append(log, data_batch(2))
    log.roll(NOW_MS)
    append(log, data_batch(3))
    assert (log.recovery_point, len(flushing.jobs)) == (0, 1)
    log.roll(NOW_MS)
    append(log, data_batch())
    assert len(flushing.jobs) == 1, "one turn flushes both"
    flushing.run()
    assert log.recovery_point == 5
    assert flushing.failures == []


def test_what_was_flushed_is_not_read_again_after_a_crash(disk: WatchedDisk, log: Log, flushing: Flushing) -> None:
    for _ in range(4):
        append(log, data_batch(2))
        log.roll(NOW_MS)
    append(log, data_batch(2))
    flushing.run()
    disk.read.clear()
    again = open_log(disk, recovery_point=log.recovery_point)
    assert log.recovery_point == 8
    read = {name for name in disk.read if name.endswith(".log")}
    assert read == {f"{6:020d}.log", f"{8:020d}.log"}, "the end of the one before may have been preallocated"
    assert offsets(again) == list(range(10))


def test_a_log_that_was_deleted_or_cut_meanwhile_fails_nothing(disk: WatchedDisk, log: Log, flushing: Flushing) -> None:
    append(log, data_batch(2))
    append(log, data_batch(2))
    log.roll(NOW_MS)
    log.truncate_to(2)
    flushing.run()
    assert log.recovery_point == 2
    append(log, data_batch(2))
    log.roll(NOW_MS)
    log.discard("/data/orders-0.abc-delete")
    log.delete()
    flushing.run()
    assert flushing.failures == []
    assert log.offline_error is None


def test_a_disk_that_fails_is_told_of(disk: WatchedDisk, log: Log, flushing: Flushing) -> None:
    append(log, data_batch())
    log.roll(NOW_MS)
    disk.fail(Fault("flush"))
    flushing.run()
    assert len(flushing.failures) == 1
    assert log.recovery_point == 0
    assert log.offline_error is not None


def test_nothing_is_submitted_after_the_end(log: Log, flushing: Flushing) -> None:
    flushing.flush.stop()
    append(log, data_batch())
    log.roll(NOW_MS)
    assert flushing.jobs == []
