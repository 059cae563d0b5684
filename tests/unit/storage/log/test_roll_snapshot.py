"""A roll leaves the snapshot of its producers to the flush, which writes what they were then."""

import errno

import pytest

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.snapshot import read_snapshot, write_snapshot
from ottla.storage.producer_state.state import ProducerState
from tests.unit.storage.append_thread import Thread
from tests.unit.storage.log_builder import (
    DIRECTORY,
    FROM_COORDINATOR,
    NOW_MS,
    append,
    data_batch,
    marker,
    open_log,
    placed,
    produced,
)

Facts = list[tuple[object, ...]]


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


def facts(entries: list[ProducerEntry]) -> Facts:
    return sorted(
        (entry.producer_id, entry.producer_epoch, entry.batches[-1:], entry.transaction_first_offset)
        for entry in entries
    )


def snapshot(disk: SimulatedDisk, offset: int) -> Facts:
    return facts(read_snapshot(disk, f"{DIRECTORY}/{offset:020d}.snapshot"))


def snapshots_on(disk: SimulatedDisk) -> list[str]:
    return sorted(name for name in disk.list(DIRECTORY) if name.endswith(".snapshot"))


def test_a_roll_writes_no_snapshot_and_the_next_flush_does(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    append(log, produced(7, 0, 0))
    disk.fail(Fault("create", errno.EIO, ".snapshot"))
    log.roll(NOW_MS)
    assert log.offline_error is None
    disk.heal()
    assert snapshots_on(disk) == []
    log.flush(NOW_MS, 1)
    assert snapshots_on(disk) == ["00000000000000000001.snapshot"]
    log.roll(NOW_MS)
    log.flush(NOW_MS)
    assert len(snapshots_on(disk)) == 1, "the active segment is empty"


def grow(log: Log, epoch: int) -> None:
    """Appends of many kinds, in an epoch of the producers."""
    for producer_id in (7, 8, 9, 100 + epoch):
        for sequence in range(4):
            append(log, produced(producer_id, epoch, sequence, transactional=producer_id == 8))
            append(log, data_batch())
    kind = ControlRecordType.ABORT if epoch % 2 else ControlRecordType.COMMIT
    append(log, marker(8, epoch, kind), options=FROM_COORDINATOR)
    run = placed(produced(9, epoch, 4), log.next_offset) + placed(produced(9, epoch, 5), log.next_offset + 1)
    log.append_as_follower(run, 0, NOW_MS)


def replayed(log: Log, offset: int) -> Facts:
    """The producers as the batches below an offset tell of them."""
    state = ProducerState(1 << 60)
    for segment in log.segments:
        for batch in segment.scan():
            if isinstance(batch, Batch) and batch.base_offset < offset and batch.producer_id >= 0:
                state.replay(batch)
    return facts(list(state.entries.values()))


@pytest.mark.parametrize("writer", ["loop", "thread", "thread at times"])
def test_it_is_what_the_producers_were_at_the_roll(disk: SimulatedDisk, writer: str) -> None:
    thread = Thread()
    log = open_log(disk, LogConfig(segment_bytes=1_000))
    log.appends = thread.queue
    for epoch in range(6):
        log.is_deferring = writer == "thread" or (writer == "thread at times" and epoch % 3 == 1)
        grow(log, epoch)
        if epoch == 3:
            thread.run()
            log.flush(NOW_MS)
    thread.run()
    log.flush(NOW_MS)
    rolled = [segment.base_offset for segment in log.segments.all()[1:]]
    assert len(rolled) > 5
    assert log.snapshots.offsets == rolled
    assert [snapshot(disk, offset) for offset in rolled] == [replayed(log, offset) for offset in rolled]
    assert facts(list(log.producers.entries.values())) == replayed(log, log.log_end_offset)


def test_producers_outlive_segments_that_go_before_the_flush(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    append(log, produced(7, 3, 0))
    log.update_high_watermark(1)
    log.delete_segments(log.segments.all(), NOW_MS)
    assert (log.log_start_offset, len(log.segments)) == (1, 1)
    again = open_log(disk, log_start_offset=1)
    assert facts(list(again.producers.entries.values())) == facts(list(log.producers.entries.values()))
    assert append(again, produced(7, 3, 1)).first_offset == 1


def test_a_truncation_takes_promises_back(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    for sequence in range(3):
        append(log, produced(7, 0, sequence))
        log.roll(NOW_MS)
    log.truncate_to(2)
    append(log, produced(7, 1, 0))
    log.flush(NOW_MS)
    assert log.snapshots.offsets == [1, 2]
    assert [snapshot(disk, offset) for offset in (1, 2)] == [replayed(log, offset) for offset in (1, 2)]
    log.truncate_fully_and_start_at(50)
    log.flush(NOW_MS)
    assert log.snapshots.offsets == []


def test_records_that_are_deleted_leave_promises_alone(disk: SimulatedDisk) -> None:
    thread = Thread()
    log = thread.defer(open_log(disk, LogConfig(segment_bytes=200)))
    for sequence in range(3):
        append(log, produced(7, 0, 2 * sequence, 2))
        if not sequence:
            thread.run()
    log.update_high_watermark(2)
    log.increment_log_start_offset(1)
    thread.run()
    log.flush(NOW_MS)
    assert log.snapshots.offsets == [segment.base_offset for segment in log.segments.all()[1:]]


def test_many_producers_are_written_in_pieces(disk: SimulatedDisk) -> None:
    entries = []
    for producer_id in range(3_500):
        entry = ProducerEntry(producer_id)
        entry.producer_epoch = producer_id % 7
        entries.append(entry)
    before = disk.operations
    write_snapshot(disk, "/data/1.snapshot", entries)
    assert disk.operations - before > 4
    assert facts(read_snapshot(disk, "/data/1.snapshot")) == facts(entries)


def test_the_short_cut_is_taken_again_once_the_snapshot_is_written(disk: SimulatedDisk) -> None:
    log = open_log(disk)
    append(log, produced(7, 0, 0))
    log.roll(NOW_MS)
    for sequence in (1, 2):
        append(log, produced(7, 0, sequence))
        assert log.roll_after_ms is None
    log.flush(NOW_MS)
    append(log, produced(7, 0, 3))
    assert log.roll_after_ms is not None
