"""Retention and compaction come to their turn in a log that a thread appends to without a pause."""

from collections.abc import Callable

import pytest

from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_manager import LogManager
from ottla.storage.producer_state.snapshot import read_snapshot
from tests.unit.storage.append_thread import Thread
from tests.unit.storage.cleaner.cleaning import COMPACT, ORDERS, T0, ManualClock, cleaner_of, manager_on
from tests.unit.storage.log_builder import append, data_batch, offsets, produced, records

DELETE: dict[str, object] = {"internal.segment.bytes": "400", "retention.bytes": "1000"}
SHORT: dict[str, object] = {"retention.ms": "1000"}


class BusyLog:
    """A log whose next append is always on its way when the loop gets to something else."""

    def __init__(self, disk: SimulatedDisk, config: dict[str, object]) -> None:
        self._thread = Thread()
        self.manager: LogManager = manager_on(
            disk, ManualClock(), {"orders": config}, run_on_writer=self._between_appends
        )
        self.log: Log = self._thread.defer(self.manager.get_or_create(ORDERS, None))
        self._written = 0

    def append(self) -> None:
        append(self.log, data_batch(value=b"%050d" % self._written))
        self._written += 1

    def append_and_write(self) -> None:
        """What was placed is written, and when the loop hears of it the next batch is placed."""
        self.append()
        self._thread.run()
        self.log.update_high_watermark(self.log.log_end_offset)

    def _between_appends(self, change: Callable[[], None]) -> None:
        self.append()
        assert self.log.backlog is not None
        change()

    def finish(self) -> None:
        self._thread.run()
        assert self.log.backlog is None


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


def test_old_segments_go_though_appends_are_always_on_their_way(disk: SimulatedDisk) -> None:
    busy = BusyLog(disk, DELETE)
    for _ in range(30):
        busy.append_and_write()
    before = len(busy.log.segments)
    assert busy.manager.maintenance.cleanup(T0) > 0
    assert len(busy.log.segments) < before
    busy.finish()
    start = busy.log.log_start_offset
    assert start > 0
    assert offsets(busy.log) == list(range(start, busy.log.log_end_offset))
    assert read_back(disk, DELETE) == records(busy.log)


def read_back(disk: SimulatedDisk, config: dict[str, object]) -> list[tuple[object, ...]]:
    """What another start finds."""
    log = manager_on(disk, ManualClock(), {"orders": config}).get(ORDERS)
    assert log is not None
    return records(log)


def test_a_segment_that_appends_are_on_their_way_to_stays(disk: SimulatedDisk) -> None:
    busy = BusyLog(disk, {**DELETE, **SHORT})
    for _ in range(9):
        busy.append_and_write()
    closed = len(busy.log.segments) - 1
    assert closed > 1
    assert busy.manager.maintenance.cleanup(T0 + 10_000) == closed
    busy.finish()
    assert records(busy.log)
    assert offsets(busy.log) == list(range(busy.log.log_start_offset, busy.log.log_end_offset))


def test_compaction_comes_to_its_end_though_appends_are_always_on_their_way(disk: SimulatedDisk) -> None:
    busy = BusyLog(disk, COMPACT)
    for _ in range(20):
        busy.append_and_write()
    finished = cleaner_of(busy.manager, disk).clean_filthiest(T0)
    assert finished is not None
    assert finished.records_kept < finished.records_read
    busy.finish()
    found = offsets(busy.log)
    assert found[-1] == busy.log.log_end_offset - 1
    assert found[0] > 0
    assert read_back(disk, COMPACT) == records(busy.log)


def test_who_serves_clients_writes_no_snapshot_when_a_whole_log_goes(disk: SimulatedDisk) -> None:
    writing: list[str] = []
    snapshots: list[list[str]] = []

    def run_on_writer(change: Callable[[], None]) -> None:
        before = found()
        change()
        writing.extend(set(found()) - set(before))
        snapshots.append(found())

    def found() -> list[str]:
        return [name for name in disk.list("/data/orders-0") if name.endswith(".snapshot")]

    manager = manager_on(disk, ManualClock(), {"orders": SHORT}, run_on_writer=run_on_writer)
    log = manager.get_or_create(ORDERS, None)
    for producer_id in range(5):
        append(log, produced(producer_id, 0, 0))
    log.update_high_watermark(log.log_end_offset)
    assert manager.maintenance.cleanup(T0 + 10_000) == 1
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (5, 5, 0)
    assert not writing
    snapshot = read_snapshot(disk, f"/data/orders-0/{5:020d}.snapshot")
    assert sorted(entry.producer_id for entry in snapshot) == list(range(5))
    assert snapshots


def test_the_loop_cuts_and_renames_a_log_that_upkeep_has_reserved(disk: SimulatedDisk) -> None:
    """Upkeep waits for the loop meanwhile: neither would ever go on if the loop waited for it."""
    busy = BusyLog(disk, DELETE)
    busy.append_and_write()
    log = busy.log
    with log.reserved():
        assert log.truncate_to(1) is False
        log.truncate_fully_and_start_at(7)
        log.relocate("/data/orders-0.elsewhere")
        assert log.claim()
        log.release_claim()
    assert (log.log_start_offset, log.log_end_offset, log.is_flushing) == (7, 7, False)
