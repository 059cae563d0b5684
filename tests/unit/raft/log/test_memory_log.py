"""The log in memory: reading, epochs, truncation, and what a crash leaves."""

import pytest

from ottla.raft.identity import OffsetAndEpoch
from ottla.raft.log.memory_log import MemoryLog, MemorySnapshots
from tests.unit.raft.replica import batch


@pytest.fixture
def log() -> MemoryLog:
    made = MemoryLog()
    made.append(batch(0, 1, b"a", b"b") + batch(2, 1, b"c"))
    made.append(batch(3, 3, b"d"))
    return made


def test_reads_whole_batches_and_at_least_one(log: MemoryLog) -> None:
    assert log.read(0, 1) == log.read(1, 1) == batch(0, 1, b"a", b"b")
    assert log.read(2, 1 << 20) == batch(2, 1, b"c") + batch(3, 3, b"d")
    assert log.read(4, 1 << 20) == b""


@pytest.mark.parametrize(("epoch", "end"), [(0, (0, 0)), (1, (3, 1)), (2, (3, 1)), (3, (4, 3)), (9, (4, 3))])
def test_where_epochs_end(log: MemoryLog, epoch: int, end: tuple[int, int]) -> None:
    assert log.end_offset_for_epoch(epoch) == OffsetAndEpoch(offset=end[0], epoch=end[1])


def test_batches_must_continue_the_log(log: MemoryLog) -> None:
    with pytest.raises(ValueError, match="log ends at 4"):
        log.append(batch(7, 3, b"x"))


def test_truncation_takes_the_batch_that_holds_the_offset(log: MemoryLog) -> None:
    log.flush()
    log.truncate_to(1)
    assert (log.end_offset, log.flushed_end_offset, log.last_epoch) == (0, 0, 0)


def test_a_crash_takes_what_was_not_flushed(log: MemoryLog) -> None:
    log.flush()
    log.append(batch(4, 3, b"e") + batch(5, 3, b"f"))
    assert log.flushed_end_offset == 4
    unflushed = log.unflushed()
    log.crash(unflushed[: len(unflushed) - 1])
    assert (log.end_offset, log.flushed_end_offset) == (5, 5), "the torn batch is gone"


def test_a_crash_may_undo_a_truncation(log: MemoryLog) -> None:
    log.flush()
    log.truncate_to(3)
    log.append(batch(3, 4, b"new"))
    log.crash_before_truncation()
    assert (log.end_offset, log.last_epoch) == (4, 3)


def test_a_snapshot_moves_the_start(log: MemoryLog) -> None:
    snapshots = MemorySnapshots(log)
    first, second = OffsetAndEpoch(offset=2, epoch=1), OffsetAndEpoch(offset=4, epoch=3)
    snapshots.store(first, b"first")
    snapshots.store(second, b"second")
    snapshots.delete_before(first)
    assert (log.start_offset, snapshots.earliest_id, snapshots.latest_id) == (2, first, second)
    snapshots.delete_before(second)
    assert (log.start_offset, log.end_offset, log.last_epoch, snapshots.earliest_id) == (4, 4, 3, second)
    snapshots.restart_log_at(OffsetAndEpoch(offset=90, epoch=7))
    assert (log.start_offset, log.end_offset, log.last_epoch) == (90, 90, 7)
