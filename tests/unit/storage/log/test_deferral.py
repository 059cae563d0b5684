"""Appends that a thread writes: the log is what it would be had the loop written them, and nobody sees more of it."""

import errno
from collections import deque

import pytest

from ottla.protocol.errors import OutOfOrderSequenceNumberError
from ottla.protocol.records.control import ControlRecordType
from ottla.storage.append_queue import BYTES_MAX
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from ottla.storage.errors import BusyDiskError, LogOfflineError, StorageError
from ottla.storage.log.loader import LoadOptions
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.producer_state.snapshot import read_snapshot
from tests.unit.storage.append_thread import Thread
from tests.unit.storage.log_builder import (
    DIRECTORY,
    FROM_COORDINATOR,
    NOW_MS,
    SMALL,
    append,
    data_batch,
    marker,
    offsets,
    open_log,
    placed,
    produced,
    records,
)


@pytest.fixture
def disk() -> SimulatedDisk:
    made = SimulatedDisk()
    made.make_directory("/data")
    return made


@pytest.fixture
def thread() -> Thread:
    return Thread()


def mixed(log: Log, number: int) -> None:
    """Appends of many kinds, of which some need a new segment."""
    if number % 11 == 3:
        append(log, produced(7, 0, next_sequence(log, 7), transactional=True), number // 40)
    elif number % 11 == 8:
        kind = ControlRecordType.ABORT if number % 2 else ControlRecordType.COMMIT
        append(log, marker(7, 0, kind), number // 40, FROM_COORDINATOR)
    elif number % 5 == 0:
        append(log, produced(9, 0, next_sequence(log, 9)), number // 40)
    elif number % 13 == 1:
        offset = log.next_offset
        run = placed(data_batch(2), offset, number // 40) + placed(data_batch(3), offset + 2, number // 40)
        log.append_as_follower(run, number // 40, NOW_MS)
    else:
        append(log, data_batch(1 + number % 3, value=b"x" * (number % 200)), number // 40)


def next_sequence(log: Log, producer_id: int) -> int:
    entry = log.producers.entries.get(producer_id)
    return 0 if entry is None else entry.last_sequence + 1


def facts(log: Log) -> tuple[object, ...]:
    files = [(segment.base_offset, segment.file().read(0, segment.size_bytes)) for segment in log.segments]
    indexes = [(segment.offset_index.entries.count, segment.time_index.entries.count) for segment in log.segments]
    entries = {
        producer_id: (entry.producer_epoch, entry.batches, entry.transaction_first_offset)
        for producer_id, entry in log.producers.entries.items()
    }
    ends = log.log_end_offset, log.next_offset, log.last_stable_offset, log.producers.end_offset
    return files, indexes, entries, ends, log.epochs.entries, log.aborted_transactions(0, log.log_end_offset)


@pytest.mark.parametrize("burst", [1, 3, 200])
@pytest.mark.parametrize("config", [SMALL, LogConfig(segment_bytes=2_000, segment_ms=1)])
def test_same_log_as_by_the_loop(thread: Thread, burst: int, config: LogConfig) -> None:
    logs = []
    for _ in range(2):
        disk = SimulatedDisk()
        disk.make_directory("/data")
        logs.append((disk, open_log(disk, config)))
    (disk, deferred), (other_disk, direct) = logs
    thread.defer(deferred)
    for number in range(200):
        mixed(deferred, number)
        mixed(direct, number)
        if number % burst == 0:
            thread.run()
    thread.run()
    assert deferred.backlog is None
    for log in (deferred, direct):
        log.update_high_watermark(log.log_end_offset)
    assert facts(deferred) == facts(direct)
    assert len(direct.segments) > 5
    assert deferred.snapshots.offsets == direct.snapshots.offsets
    for offset in direct.snapshots.offsets:
        name = f"{DIRECTORY}/{offset:020d}.snapshot"
        mine, others = read_snapshot(disk, name), read_snapshot(other_disk, name)
        assert [(one.producer_id, one.batches) for one in mine] == [(one.producer_id, one.batches) for one in others]
    assert records(deferred) == records(direct)


def test_nobody_sees_what_is_not_written(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    assert append(log, data_batch(3)).last_offset == 2
    assert append(log, data_batch(2)).first_offset == 3
    assert (log.log_end_offset, log.next_offset, log.size_bytes, offsets(log)) == (0, 5, 0, [])
    assert log.update_high_watermark(5) == 0
    thread.run()
    assert (log.log_end_offset, log.next_offset, offsets(log)) == (5, 5, [0, 1, 2, 3, 4])


def test_what_waits_together_is_one_write(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk, LogConfig(index_interval_bytes=1 << 30)))
    heard: list[int] = []
    for _ in range(20):
        end_offset = append(log, data_batch(2)).last_offset + 1
        log.when_written(end_offset, lambda error: heard.append(log.log_end_offset))
    before = disk.operations
    thread.write()
    assert (disk.operations - before, len(thread.posted)) == (1, 1)
    thread.tell()
    assert heard == [40] * 20
    assert (offsets(log), log.size_bytes) == (list(range(40)), 20 * len(data_batch(2)))


def test_logs_take_turns_and_are_all_told(disk: SimulatedDisk, thread: Thread) -> None:
    logs = []
    for number in range(3):
        options = LoadOptions("many", number, now_ms=NOW_MS)
        logs.append(thread.defer(Log.open(disk, f"/data/many-{number}", LogConfig(), options)))
    heard: list[tuple[int, int]] = []
    for sequence in range(10):
        for log in logs:
            end_offset = append(log, produced(7, 0, sequence)).last_offset + 1
            log.when_written(end_offset, lambda error, at=(log.partition, end_offset): heard.append(at))  # type: ignore[misc]
    assert thread.queue.size_bytes == 30 * len(produced(7, 0, 0))
    thread.run()
    assert heard == [(number, end) for number in range(3) for end in range(1, 11)]
    assert [offsets(log) for log in logs] == [list(range(10))] * 3
    assert (thread.queue.size_bytes, [log.backlog for log in logs]) == (0, [None] * 3)


def test_what_is_written_together_is_bounded(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk, LogConfig(index_interval_bytes=1 << 30, max_message_bytes=1 << 22)))
    for size in (600_000, 300_000, 300_000, 3_000_000, 1):
        append(log, data_batch(value=bytes(size)))
    before = disk.operations
    thread.run()
    assert disk.operations - before == 4, "two of them in one"
    assert offsets(log) == list(range(5))


def test_a_write_that_fails_fails_what_it_carried_and_what_stands_behind(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk, LogConfig(max_message_bytes=1 << 22)))
    heard: list[bool] = []
    for size in (1, 1, 1 << 21, 1, 1):
        end_offset = append(log, data_batch(value=bytes(size))).last_offset + 1
        log.when_written(end_offset, lambda error: heard.append(error is None))
    disk.fill_up(1_000)
    thread.run()
    assert heard == [True, True, False, False, False]
    disk.heal()
    assert offsets(open_log(disk)) == [0, 1]


def test_one_who_fails_when_told_leaves_the_others_their_turn(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    heard: list[StorageError | None] = []

    def fail(error: StorageError | None) -> None:
        raise ValueError

    for done in (fail, heard.append):
        log.when_written(append(log, data_batch()).last_offset + 1, done)
    thread.run()
    assert heard == [None]


def test_those_who_wait_hear_of_it_in_order(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    heard: list[tuple[int, int, StorageError | None]] = []
    for _ in range(3):
        end_offset = append(log, data_batch(2)).last_offset + 1
        log.when_written(end_offset, lambda error, end=end_offset: heard.append((end, log.log_end_offset, error)))  # type: ignore[misc]
    thread.write()
    assert heard == []
    thread.tell()
    assert [end for end, _, _ in heard] == [2, 4, 6]
    assert all(known >= end and error is None for end, known, error in heard)
    log.when_written(6, lambda error: heard.append((-1, -1, error)))
    assert heard[-1][0] == -1


def test_sequence_numbers_count_from_the_placing(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    first = append(log, produced(7, 0, 0, count=2))
    append(log, produced(7, 0, 2))
    repeated = append(log, produced(7, 0, 0, count=2))
    assert (repeated.is_duplicate, repeated.first_offset, repeated.last_offset) == (True, 0, first.last_offset)
    assert log.log_end_offset <= repeated.last_offset, "whoever is answered has to wait for the write"
    with pytest.raises(OutOfOrderSequenceNumberError):
        append(log, produced(7, 0, 9))
    thread.run()
    assert offsets(log) == [0, 1, 2]


def test_a_refused_batch_leaves_no_trace(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    append(log, data_batch())
    broken = data_batch()
    broken[-1] ^= 1
    with pytest.raises(Exception, match="CRC"):
        append(log, broken)
    assert append(log, data_batch()).first_offset == 1
    thread.run()
    assert offsets(log) == [0, 1]


def test_the_callers_buffer_may_be_used_again(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    buffer = data_batch(value=b"before")
    append(log, buffer)
    buffer[:] = bytes(len(buffer))
    thread.run()
    assert [record[3] for record in records(log)] == [b"before"]


def test_the_loop_writes_again_once_all_is_written(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    append(log, data_batch())
    log.is_deferring = False
    append(log, data_batch())
    assert log.log_end_offset == 0, "behind what is on its way"
    thread.run()
    append(log, data_batch())
    assert (log.log_end_offset, thread.jobs) == (3, deque())
    assert offsets(log) == [0, 1, 2]


def test_a_failed_write_takes_the_log_offline_and_those_behind_it_fail(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    errors: list[StorageError | None] = []
    append(log, produced(7, 0, 0))
    thread.run()
    disk.fail(Fault("write", errno.EIO, ".log"))
    for sequence in (1, 2):
        end_offset = append(log, produced(7, 0, sequence)).last_offset + 1
        log.when_written(end_offset, errors.append)
    thread.write()
    disk.heal()
    append_fails(log)
    thread.tell()
    assert [type(error) for error in errors] == [StorageError, StorageError]
    assert (log.log_end_offset, log.backlog) == (1, None)
    append_fails(log)
    again = open_log(disk)
    assert offsets(again) == [0]
    assert append(again, produced(7, 0, 1)).first_offset == 1, "what was not written is no repeat"


def append_fails(log: Log) -> None:
    with pytest.raises(LogOfflineError):
        append(log, data_batch())


def test_a_full_disk_fails_what_does_not_fit_and_all_behind_it(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    append(log, data_batch())
    thread.run()
    disk.fill_up(120)
    errors: list[StorageError | None] = []
    for size in (10, 400, 1):
        end_offset = append(log, data_batch(value=b"x" * size)).last_offset + 1
        log.when_written(end_offset, errors.append)
        if size == 10:
            thread.write()
    thread.run()
    assert [error is None for error in errors] == [True, False, False]
    disk.heal()
    assert offsets(open_log(disk)) == [0, 1]


def test_want_of_descriptors_is_waited_out(
    disk: SimulatedDisk, thread: Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ottla.storage.log.appending.deferral._TRY_AGAIN_SECONDS", 0)
    log = thread.defer(open_log(disk))
    tries = 0
    check = disk.check

    def refuse_twice(operation: str, path: str) -> None:
        nonlocal tries
        if operation == "open" and path.endswith(".log"):
            tries += 1
            if tries < 3:
                raise StorageError.from_os(OSError(errno.EMFILE, "Too many open files"), path)
        check(operation, path)

    append(log, data_batch())
    log.active_segment.let_go()
    disk.check = refuse_twice  # type: ignore[method-assign]
    thread.run()
    assert (tries >= 3, log.offline_error, offsets(log)) == (True, None, [0])


def test_changes_of_files_wait_for_what_is_on_its_way(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    append(log, data_batch())
    assert not log.claim()
    thread.run()
    assert log.claim()
    log.release_claim()


def test_a_deleted_log_is_written_no_more(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    errors: list[StorageError | None] = []
    log.when_written(append(log, data_batch()).last_offset + 1, errors.append)
    log.discard("/data/orders-0.delete")
    thread.run()
    assert isinstance(errors[0], LogOfflineError)
    assert sorted(disk.list("/data")) == ["orders-0.delete"]


def test_memory_is_bounded(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk, LogConfig(max_message_bytes=BYTES_MAX)))
    append(log, data_batch(value=bytes(BYTES_MAX // 2)))
    append(log, data_batch())
    with pytest.raises(BusyDiskError):
        append(log, data_batch(value=bytes(BYTES_MAX // 2)))
    assert log.offline_error is None
    thread.run()
    assert thread.queue.size_bytes == 0
    assert append(log, data_batch()).first_offset == 2


def test_a_leader_begins_its_epoch_behind_what_it_took_as_a_follower(disk: SimulatedDisk, thread: Thread) -> None:
    log = thread.defer(open_log(disk))
    log.append_as_follower(placed(data_batch(3), 0, 1), 1, NOW_MS)
    log.assign_epoch_start(2)
    append(log, data_batch(), 2)
    thread.run()
    assert [tuple(entry) for entry in log.epochs.entries] == [(1, 0), (2, 3)]
    assert offsets(log) == [0, 1, 2, 3]


@pytest.mark.parametrize("appends", range(0, 60, 3))
def test_a_kill_leaves_all_that_anybody_was_told_of(disk: SimulatedDisk, thread: Thread, appends: int) -> None:
    log = thread.defer(open_log(disk))
    for number in range(appends):
        mixed(log, number)
        if number % 4 == 1:
            thread.run()
    told = log.log_end_offset
    again = open_log(disk)
    assert again.log_end_offset == told
    assert offsets(again) == list(range(told))
    sequence = next_sequence(again, 9)
    assert sequence <= next_sequence(log, 9)
    assert not append(again, produced(9, 0, sequence), 2).is_duplicate, "what was not written is no repeat"
