import threading

import pytest

from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.errors import StorageError
from ottla.storage.group_commit import GroupCommit
from ottla.storage.log.log import Log
from tests.unit.storage.cleaner.cleaning import ManualClock
from tests.unit.storage.log_builder import append, data_batch, open_log


class Gate:
    """Holds up a log's first flush until it is opened, and counts flushes."""

    def __init__(self, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.opened, self.flushes = threading.Event(), threading.Event(), list[int | None]()
        gated, flush = log, Log.flush

        def held(log: Log, now_ms: int, offset: int | None = None) -> None:
            # A broker of other tests may run in this process.
            if log is gated:
                self.flushes.append(offset)
                self.begun.set()
                self.opened.wait(10)
            flush(log, now_ms, offset)

        monkeypatch.setattr(Log, "flush", held)


def test_all_that_came_while_a_flush_ran_share_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(SimulatedDisk())
    gate = Gate(log, monkeypatch)
    commits = GroupCommit("data", ManualClock(), lambda error: None)
    told: list[tuple[int, int]] = []
    finished = threading.Semaphore(0)

    def produce(number: int) -> None:
        append(log, data_batch())

        def done(error: StorageError | None) -> None:
            assert error is None
            told.append((number, log.recovery_point))
            finished.release()

        commits.submit(log, log.log_end_offset, done)

    produce(0)
    assert gate.begun.wait(10)
    for number in range(1, 100):
        produce(number)
    gate.opened.set()
    for _ in range(100):
        assert finished.acquire(timeout=10)
    commits.close()
    assert gate.flushes == [1, 100]
    assert [number for number, _ in told] == list(range(100))
    assert all(recovery_point > number for number, recovery_point in told)


def test_a_failed_flush_is_told_to_all_who_wait_and_to_the_directory() -> None:
    disk = SimulatedDisk()
    log = open_log(disk)
    append(log, data_batch())
    disk.fail(Fault("flush"))
    failures: list[StorageError] = []
    commits = GroupCommit("data", ManualClock(), failures.append)
    answers: list[StorageError | None] = []
    commits.submit(log, 1, answers.append)
    commits.close()
    assert isinstance(answers[0], StorageError)
    assert failures == answers


def test_closing_serves_those_who_wait_and_takes_no_more() -> None:
    log = open_log(SimulatedDisk())
    append(log, data_batch())
    commits = GroupCommit("data", ManualClock(), lambda error: None)
    answers: list[StorageError | None] = []
    commits.submit(log, 1, answers.append)
    commits.close()
    assert answers == [None]
    assert log.recovery_point == 1
    with pytest.raises(StorageError, match="closed"):
        commits.submit(log, 1, answers.append)


def test_a_broker_that_never_waits_has_no_thread() -> None:
    before = threading.active_count()
    commits = GroupCommit("data", ManualClock(), lambda error: None)
    assert threading.active_count() == before
    commits.close()
