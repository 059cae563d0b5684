"""A transaction index that lies, after a clean stop: no aborted record may be taken for a committed one."""

import struct

import pytest

from ottla.protocol.records.control import ControlRecordType
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import CorruptFileError
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.log.loader import LoadOptions, Shutdown
from ottla.storage.log.log import Log
from ottla.storage.log.transaction_index_checkpoint import FILE_NAME
from ottla.storage.segment.segment import Segment
from tests.unit.storage.log_builder import (
    DIRECTORY,
    FROM_COORDINATOR,
    NOW_MS,
    SMALL,
    append,
    data_batch,
    marker,
    open_log,
    produced,
    replace_segments,
)

PATH = f"{DIRECTORY}/{0:020d}.txnindex"
ENTRY_BYTES = 34
DAY_MS = 86_400_000
ABORTED = [(1, 0, 2), (3, 3, 5), (4, 6, 7)]
"""Producer, first and last offset."""


def stopped() -> SimulatedDisk:
    """Three aborted transactions in one segment, after a clean stop."""
    disk = SimulatedDisk()
    log = open_log(disk)
    append(log, produced(1, 0, 0, transactional=True))
    append(log, produced(1, 0, 1, transactional=True))
    abort(log, 1)
    append(log, produced(3, 0, 0, 2, transactional=True))
    abort(log, 3)
    append(log, produced(4, 0, 0, transactional=True))
    abort(log, 4)
    log.close(NOW_MS)
    return disk


def abort(log: Log, producer_id: int) -> None:
    append(log, marker(producer_id, 0, ControlRecordType.ABORT), options=FROM_COORDINATOR)


def found(log: Log) -> list[tuple[int, ...]]:
    return [tuple(entry[:3]) for entry in log.aborted_transactions(0, log.log_end_offset)]


def overwrite(disk: SimulatedDisk, position: int, data: bytes) -> None:
    disk.open(PATH, Access.WRITE).write(position, [data])


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_entries_that_were_cut_off_are_found_again(kept: int) -> None:
    disk = stopped()
    disk.open(PATH, Access.WRITE).truncate(kept * ENTRY_BYTES)
    assert found(open_log(disk, shutdown=Shutdown.CLEAN)) == ABORTED
    file = disk.open(PATH, Access.READ)
    assert file.size() == len(ABORTED) * ENTRY_BYTES, "on the disk, too"


@pytest.mark.parametrize(
    ("field", "value"),
    [(2, 9), (10, 4), (18, 4), (26, 7)],
    ids=["producer", "first offset", "last offset", "last stable offset"],
)
def test_an_entry_that_the_batches_do_not_confirm_is_not_believed(field: int, value: int) -> None:
    disk = stopped()
    overwrite(disk, ENTRY_BYTES + field, struct.pack(">q", value))
    assert found(open_log(disk, shutdown=Shutdown.CLEAN)) == ABORTED


def test_an_entry_of_zeros_is_not_believed() -> None:
    disk = stopped()
    disk.open(PATH, Access.WRITE).truncate(ENTRY_BYTES)
    overwrite(disk, 0, bytes(ENTRY_BYTES))
    assert found(open_log(disk, shutdown=Shutdown.CLEAN)) == ABORTED


def test_a_marker_of_a_transaction_that_wrote_nothing_needs_no_entry() -> None:
    disk = stopped()
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    abort(log, 1)
    log.close(NOW_MS)
    before = disk.open(PATH, Access.READ).read(0, 1_000)
    again = open_log(disk, shutdown=Shutdown.CLEAN)
    assert found(again) == ABORTED
    assert disk.open(PATH, Access.READ).read(0, 1_000) == before


@pytest.mark.parametrize("noise", [b"\7\7", b""])
def test_an_abort_after_the_damage_finds_its_place(noise: bytes) -> None:
    disk = stopped()
    disk.open(PATH, Access.WRITE).truncate(ENTRY_BYTES)
    overwrite(disk, 0, noise)
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    append(log, produced(1, 0, 2, transactional=True))
    abort(log, 1)
    assert found(log) == [*ABORTED, (1, 8, 9)]


def test_a_log_with_a_damaged_index_can_be_truncated() -> None:
    disk = stopped()
    overwrite(disk, 0, b"\7\7")
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    log.truncate_to(6)
    assert found(log) == ABORTED[:2]


def test_producers_that_are_forgotten_by_now_had_transactions_all_the_same() -> None:
    disk = stopped()
    disk.remove(PATH)
    later = LoadOptions(
        topic="orders", partition=0, now_ms=NOW_MS + 2 * DAY_MS, recovery_point=8, shutdown=Shutdown.CLEAN
    )
    log = Log.open(disk, DIRECTORY, SMALL, later)
    assert not log.producers.entries
    assert found(log) == ABORTED


def nobody_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(segment: Segment, *_: object) -> None:
        raise AssertionError(f"{segment.path()} was read")

    monkeypatch.setattr(Segment, "scan", refuse)


def test_an_index_that_is_as_it_was_left_costs_no_look_at_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = stopped()
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    append(log, produced(1, 0, 2, transactional=True))
    nobody_scans(monkeypatch)
    assert found(log) == ABORTED
    abort(log, 1)
    assert found(log) == [*ABORTED, (1, 8, 9)]


def test_segments_that_nothing_is_known_of_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = stopped()
    disk.remove(f"{DIRECTORY}/{FILE_NAME}")
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    nobody_scans(monkeypatch)
    assert found(log) == ABORTED


@pytest.mark.parametrize("noise", [b"", b"7", b"0\n2\n0 3 4\n", b"0\n1\n0 3\n", b"\xff"])
def test_noise_in_the_checkpoint_is_as_good_as_none(noise: bytes) -> None:
    disk = stopped()
    disk.open(f"{DIRECTORY}/{FILE_NAME}", Access.WRITE).truncate(0)
    disk.open(f"{DIRECTORY}/{FILE_NAME}", Access.WRITE).write(0, [noise])
    assert found(open_log(disk, shutdown=Shutdown.CLEAN)) == ABORTED


def test_an_index_lost_before_the_recovery_point_is_built_anew_after_a_crash() -> None:
    disk = SimulatedDisk()
    log = open_log(disk)
    append(log, produced(1, 0, 0, transactional=True))
    abort(log, 1)
    log.roll(NOW_MS)
    append(log, data_batch())
    log.flush(NOW_MS)
    disk.remove(PATH)
    assert found(open_log(disk, recovery_point=log.recovery_point)) == [(1, 0, 1)]


def test_an_index_that_grew_since_the_stop_needs_no_repair_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = stopped()
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    append(log, produced(1, 0, 2, transactional=True))
    abort(log, 1)
    log.roll(NOW_MS)
    append(log, data_batch())
    log.flush(NOW_MS)
    again = open_log(disk, recovery_point=log.recovery_point)
    nobody_scans(monkeypatch)
    assert found(again) == [*ABORTED, (1, 8, 9)]


def test_an_index_is_not_built_from_batches_that_are_damaged_too() -> None:
    disk = stopped()
    disk.remove(PATH)
    log = open_log(disk, shutdown=Shutdown.CLEAN)
    file = disk.open(f"{DIRECTORY}/{0:020d}.log", Access.WRITE)
    file.write(file.size() - 1, [b"\7"])
    with pytest.raises(CorruptFileError, match=r"0\.log: .* offset 7 does not match"):
        found(log)


def test_cleaned_segments_have_indexes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(stopped(), shutdown=Shutdown.CLEAN)
    log.roll(NOW_MS)
    cleaned = Segment.create(log.disk, DIRECTORY, 0, SMALL, suffix=".cleaned")
    for batch in log.segments.first.scan():
        if batch.base_offset >= 6:
            cleaned.append(batch.data, batch.last_offset, batch.max_timestamp)
    cleaned.transaction_index.append(AbortedTransaction(4, 6, 7, 8))
    cleaned.seal()
    cleaned.flush()
    cleaned.transaction_index.is_complete = False
    replace_segments(log, [log.segments.first], [cleaned])
    nobody_scans(monkeypatch)
    assert found(log) == ABORTED[2:]


def test_the_index_of_a_segment_that_was_flushed_before_it_was_rolled_is_missed() -> None:
    disk = SimulatedDisk()
    log = open_log(disk)
    append(log, produced(1, 0, 0, transactional=True))
    abort(log, 1)
    log.flush(NOW_MS)
    log.roll(NOW_MS)
    append(log, data_batch())
    log.flush(NOW_MS)
    disk.remove(PATH)
    again = open_log(disk, shutdown=Shutdown.UNCLEAN, recovery_point=log.recovery_point)
    assert found(again) == [(1, 0, 1)]
