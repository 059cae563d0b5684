"""All producers of a partition: expiry, open transactions, verification, snapshots."""

import struct

import pytest

from ottla.protocol.errors import InvalidProducerEpochError, InvalidTxnStateError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType
from ottla.protocol.records.validation import AppendOrigin
from ottla.storage.disk.atomic import read_whole
from ottla.storage.disk.port import Access
from ottla.storage.disk.simulated import SimulatedDisk
from ottla.storage.errors import RebuildableFileError
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.snapshot import read_snapshot, write_snapshot
from ottla.storage.producer_state.state import EXPIRY_STEP, ProducerState
from tests.unit.storage.log_builder import NOW_MS, marker, placed, produced

ABORT, COMMIT = ControlRecordType.ABORT, ControlRecordType.COMMIT


def take_in(state: ProducerState, batch: bytearray, offset: int) -> object:
    completed = state.replay(Batch(placed(batch, offset)))
    return None if completed is None else state.complete(completed)


def remove_expired(state: ProducerState, now_ms: int) -> None:
    """All steps of it."""
    assert not list(state.remove_expired(now_ms)), "few producers take one step"


@pytest.fixture
def state() -> ProducerState:
    return ProducerState(expiration_ms=1_000)


def test_first_unstable_offset_waits_for_the_high_watermark(state: ProducerState) -> None:
    take_in(state, produced(1, 0, 0, transactional=True), 10)
    take_in(state, produced(2, 0, 0, transactional=True), 11)
    transactions = state.transactions
    assert transactions.first_unstable_offset == 10
    assert take_in(state, marker(1, 0, COMMIT), 12) is None
    assert (transactions.first_undecided, transactions.first_unstable_offset) == ((11, 2), 10)
    transactions.replicated(12)
    assert transactions.first_unstable_offset == 10
    transactions.replicated(13)
    assert transactions.first_unstable_offset == 11
    take_in(state, marker(2, 0, COMMIT), 13)
    transactions.replicated(14)
    assert transactions.first_unstable_offset is None


def test_aborted_transaction_says_what_was_stable(state: ProducerState) -> None:
    take_in(state, produced(1, 0, 0, transactional=True), 10)
    take_in(state, produced(2, 0, 0, transactional=True), 11)
    assert take_in(state, marker(2, 0, ABORT), 12) == (2, 11, 12, 10)
    assert take_in(state, marker(1, 0, ABORT), 13) == (1, 10, 13, 14)


def test_silent_producers_are_forgotten_but_not_open_transactions(state: ProducerState) -> None:
    take_in(state, produced(1, 0, 0), 0)
    take_in(state, produced(2, 0, 0, transactional=True), 1)
    remove_expired(state, NOW_MS + 999)
    assert set(state.entries) == {1, 2}
    remove_expired(state, NOW_MS + 1_000)
    assert set(state.entries) == {2}


def test_silent_producers_are_forgotten_some_at_each_step(state: ProducerState) -> None:
    for producer_id in range(3 * EXPIRY_STEP):
        take_in(state, produced(producer_id, 0, 0), producer_id)
    steps = state.remove_expired(NOW_MS + 1_000)
    next(steps)
    assert set(state.entries) == set(range(EXPIRY_STEP, 3 * EXPIRY_STEP))
    take_in(state, produced(EXPIRY_STEP, 0, 1, transactional=True), 3 * EXPIRY_STEP)
    take_in(state, produced(3 * EXPIRY_STEP, 0, 0), 3 * EXPIRY_STEP + 1)
    del state.entries[EXPIRY_STEP + 1]
    assert sum(1 for _ in steps) == 1
    assert set(state.entries) == {EXPIRY_STEP, 3 * EXPIRY_STEP}


def test_only_the_append_with_the_receipt_opens_a_transaction(state: ProducerState) -> None:
    batch = Batch(produced(1, 0, 0, transactional=True))
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(batch, None)
    receipt = state.start_verification(batch, NOW_MS, supports_epoch_bump=False)
    assert state.start_verification(batch, NOW_MS, supports_epoch_bump=False) is receipt
    state.check_verified(batch, receipt)
    remove_expired(state, NOW_MS + 1_000)
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(batch, receipt)
    later = state.start_verification(batch, NOW_MS, supports_epoch_bump=False)
    assert later is not receipt
    take_in(state, produced(1, 0, 0, transactional=True), 0)
    assert state.start_verification(batch, NOW_MS, supports_epoch_bump=False) is None
    state.check_verified(batch, None)
    take_in(state, marker(1, 0, COMMIT), 1)
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(batch, later)


def test_a_marker_voids_the_receipt_even_if_it_ends_nothing(state: ProducerState) -> None:
    batch = Batch(produced(1, 0, 0, transactional=True))
    receipt = state.start_verification(batch, NOW_MS, supports_epoch_bump=False)
    take_in(state, marker(1, 0, ABORT), 0)
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(batch, receipt)


def test_a_write_that_outlives_its_transaction_is_not_taken_into_the_next_one(state: ProducerState) -> None:
    batch = Batch(produced(1, 0, 0, transactional=True))
    receipt = state.start_verification(batch, NOW_MS, supports_epoch_bump=False)
    take_in(state, produced(1, 0, 0, transactional=True), 0)
    state.check_verified(batch, receipt)
    take_in(state, marker(1, 0, COMMIT), 1)
    next_receipt = state.start_verification(batch, NOW_MS, supports_epoch_bump=False)
    take_in(state, produced(1, 0, 1, transactional=True), 2)
    state.check_verified(batch, next_receipt)
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(batch, receipt)


def test_with_epoch_bumps_the_end_of_the_last_transaction_leaves_the_next_ones_receipt(state: ProducerState) -> None:
    take_in(state, produced(1, 4, 0, transactional=True), 0)
    batch = Batch(produced(1, 5, 0, transactional=True))
    receipt = state.start_verification(batch, NOW_MS, supports_epoch_bump=True)
    mark(state, marker(1, 5, COMMIT), 1)
    state.check_verified(batch, receipt)
    mark(state, marker(1, 6, ABORT), 2)
    with pytest.raises(InvalidProducerEpochError):
        state.check_verified(batch, receipt)
    later = Batch(produced(1, 6, 0, transactional=True))
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(later, receipt)


def test_a_marker_of_before_epoch_bumps_voids_every_receipt(state: ProducerState) -> None:
    batch = Batch(produced(1, 5, 0, transactional=True))
    receipt = state.start_verification(batch, NOW_MS, supports_epoch_bump=True)
    take_in(state, marker(1, 5, ABORT), 0)
    with pytest.raises(InvalidTxnStateError):
        state.check_verified(batch, receipt)


def mark(state: ProducerState, batch: bytearray, offset: int) -> None:
    """A marker of transactions v2, as their coordinator writes it."""
    check = state.check_copy(1, AppendOrigin.COORDINATOR)
    check.append(Batch(placed(batch, offset)), transaction_version=2)
    state.update((check,))


def test_old_epoch_is_not_verified(state: ProducerState) -> None:
    take_in(state, produced(1, 5, 0), 0)
    batch = Batch(produced(1, 4, 0, transactional=True))
    with pytest.raises(InvalidProducerEpochError):
        state.start_verification(batch, NOW_MS, supports_epoch_bump=False)
    with pytest.raises(InvalidProducerEpochError):
        state.check_verified(batch, None)


def test_snapshot_has_kafkas_bytes_and_comes_back(state: ProducerState) -> None:
    disk = SimulatedDisk()
    take_in(state, produced(1, 2, 5, 3, transactional=True), 40)
    take_in(state, marker(9, 1, COMMIT, 6), 43)
    write_snapshot(disk, "/44.snapshot", state.entries.values())
    raw = read_whole(disk, "/44.snapshot") or b""
    assert len(raw) == 10 + 2 * 46
    assert struct.unpack_from(">h", raw) == (1,)
    assert struct.unpack_from(">i", raw, 6) == (2,)
    assert struct.unpack_from(">qhiqiqiq", raw, 10) == (1, 2, 7, 42, 2, NOW_MS, -1, 40)
    assert struct.unpack_from(">qhiqiqiq", raw, 56) == (9, 1, -1, -1, 0, NOW_MS, 6, -1)
    again = ProducerState(expiration_ms=1_000)
    again.load(read_snapshot(disk, "/44.snapshot"), 44, NOW_MS)
    assert again.end_offset == 44
    assert again.transactions.first_undecided == (40, 1)
    assert again.find_duplicate(Batch(produced(1, 2, 5, 3))) == (7, 42, 2, NOW_MS)
    assert again.entries[9].batches == ()
    again.load(read_snapshot(disk, "/44.snapshot"), 44, NOW_MS + 1_000)
    assert set(again.entries) == {1}


@pytest.mark.parametrize(("position", "noise"), [(0, b"\0\2"), (2, b"\0"), (9, b"\5"), (20, b"\x55")])
def test_damaged_snapshot_is_noticed(position: int, noise: bytes) -> None:
    disk = SimulatedDisk()
    write_snapshot(disk, "/1.snapshot", [ProducerEntry(3)])
    file = disk.open("/1.snapshot", Access.WRITE)
    file.write(position, [noise])
    with pytest.raises(RebuildableFileError, match=r"/1\.snapshot"):
        read_snapshot(disk, "/1.snapshot")
    file.truncate(9)
    with pytest.raises(RebuildableFileError):
        read_snapshot(disk, "/1.snapshot")
