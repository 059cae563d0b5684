"""The rules for idempotent producers and transactions, one entry at a time."""

import pytest

from ottla.protocol.errors import (
    ApiError,
    InvalidProducerEpochError,
    InvalidTxnStateError,
    OutOfOrderSequenceNumberError,
    TransactionCoordinatorFencedError,
)
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType
from ottla.protocol.records.validation import AppendOrigin
from ottla.storage.producer_state.append import ProducerCheck
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.producer_state.verification import VerificationEntry
from tests.unit.storage.log_builder import data_batch, marker, placed, produced

CLIENT, COORDINATOR = AppendOrigin.CLIENT, AppendOrigin.COORDINATOR
LAST_SEQUENCE = 2**31 - 1


def send(
    entry: ProducerEntry, batch: bytearray, offset: int = 0, *, origin: AppendOrigin | None = CLIENT
) -> ProducerCheck:
    check = ProducerCheck(entry, origin)
    check.append(Batch(placed(batch, offset)))
    return check


def known(epoch: int = 3, sequence: int = 10) -> ProducerEntry:
    """A producer whose last record had the sequence number."""
    entry = ProducerEntry(7)
    send(entry, produced(7, epoch, sequence))
    return entry


@pytest.mark.parametrize(
    ("epoch", "sequence", "error"),
    [
        (3, 11, None),
        (3, 12, OutOfOrderSequenceNumberError),
        (3, 10, OutOfOrderSequenceNumberError),
        (3, 0, OutOfOrderSequenceNumberError),
        (4, 0, None),
        (4, 11, OutOfOrderSequenceNumberError),
        (2, 11, InvalidProducerEpochError),
        (2, 0, InvalidProducerEpochError),
    ],
)
def test_sequence_goes_on_and_a_new_epoch_begins_at_0(epoch: int, sequence: int, error: type[ApiError] | None) -> None:
    entry = known()
    if error is None:
        send(entry, produced(7, epoch, sequence), 1)
        assert (entry.producer_epoch, entry.last_sequence) == (epoch, sequence)
    else:
        with pytest.raises(error):
            send(entry, produced(7, epoch, sequence), 1)
        assert (entry.producer_epoch, entry.last_sequence) == (3, 10)


def test_unknown_producer_may_start_anywhere() -> None:
    assert known(0, 1234).last_sequence == 1234


def test_sequence_wraps_to_0() -> None:
    entry = known(0, LAST_SEQUENCE)
    send(entry, produced(7, 0, 0), 1)
    entry = known(0, LAST_SEQUENCE - 1)
    send(entry, produced(7, 0, LAST_SEQUENCE, 3), 1)
    assert (entry.last_sequence, entry.batches[-1].first_sequence) == (1, LAST_SEQUENCE)
    assert entry.find_batch(0, LAST_SEQUENCE, 1) is entry.batches[-1]


def test_five_batches_are_remembered() -> None:
    entry = ProducerEntry(7)
    for index in range(7):
        send(entry, produced(7, 0, 2 * index, 2), 100 + 2 * index)
    for index in range(7):
        found = entry.find_batch(0, 2 * index, 2 * index + 1)
        assert (found is not None) == (index >= 2)
        assert found is None or (found.first_offset, found.last_offset) == (100 + 2 * index, 101 + 2 * index)
    assert entry.find_batch(0, 12, 12) is None, "a part of a batch is no repeat of it"
    assert entry.find_batch(1, 12, 13) is None


def test_replicated_batches_are_believed() -> None:
    entry = known(3, 10)
    send(entry, produced(7, 3, 99), 1, origin=None)
    send(entry, produced(7, 1, 5), 2, origin=None)
    assert entry.last_sequence == 5


def test_transaction_runs_from_its_first_batch_to_the_marker() -> None:
    entry = ProducerEntry(7)
    assert send(entry, produced(7, 0, 0, transactional=True), 20).started_offsets == (20,)
    assert send(entry, produced(7, 0, 1, transactional=True), 21).started_offsets == ()
    with pytest.raises(InvalidTxnStateError):
        send(entry, produced(7, 0, 2), 22)
    check = ProducerCheck(entry, COORDINATOR)
    completed = check.append(Batch(placed(marker(7, 0, ControlRecordType.ABORT), 25)))
    assert completed == (7, 20, 25, True)
    assert entry.transaction_first_offset is None
    assert send(entry, produced(7, 0, 2), 26).started_offsets == ()


def test_marker_without_a_transaction_completes_none() -> None:
    check = ProducerCheck(ProducerEntry(7), COORDINATOR)
    assert check.append(Batch(placed(marker(7, 5, ControlRecordType.COMMIT, 9), 0))) is None
    assert (check.entry.producer_epoch, check.entry.coordinator_epoch) == (5, 9)


def test_old_coordinator_is_fenced() -> None:
    entry = ProducerEntry(7)
    ProducerCheck(entry, COORDINATOR).append(Batch(marker(7, 0, ControlRecordType.COMMIT, 4)))
    with pytest.raises(TransactionCoordinatorFencedError):
        ProducerCheck(entry, COORDINATOR).append(Batch(marker(7, 0, ControlRecordType.COMMIT, 3)))
    ProducerCheck(entry, None).append(Batch(marker(7, 0, ControlRecordType.COMMIT, 3)))
    with pytest.raises(InvalidProducerEpochError):
        ProducerCheck(known(5), COORDINATOR).append(Batch(marker(7, 4, ControlRecordType.COMMIT)))


@pytest.mark.parametrize(
    ("epoch", "is_open", "accepted"),
    [(4, True, True), (3, True, False), (3, False, True), (2, True, False), (2, False, False)],
)
def test_marker_of_version_2_bumps_the_epoch(epoch: int, *, is_open: bool, accepted: bool) -> None:
    entry = known(3) if not is_open else ProducerEntry(7)
    if is_open:
        send(entry, produced(7, 3, 0, transactional=True))
    batch = Batch(placed(marker(7, epoch, ControlRecordType.COMMIT), 9))
    if accepted:
        assert (ProducerCheck(entry, COORDINATOR).append(batch, 2) is not None) == is_open
    else:
        with pytest.raises(InvalidProducerEpochError):
            ProducerCheck(entry, COORDINATOR).append(batch, 2)


def test_epoch_bump_of_a_marker_starts_sequences_anew() -> None:
    entry = known(3, 10)
    ProducerCheck(entry, COORDINATOR).append(Batch(marker(7, 4, ControlRecordType.COMMIT)), 2)
    with pytest.raises(OutOfOrderSequenceNumberError):
        send(entry, produced(7, 4, 11))
    send(entry, produced(7, 4, 0))


def test_lowest_verified_sequence_has_to_come_first() -> None:
    verification = VerificationEntry(0, 5, 0, supports_epoch_bump=False)
    verification.note(3, 0)
    verification.note(9, 0)
    with pytest.raises(OutOfOrderSequenceNumberError):
        ProducerCheck(ProducerEntry(7), CLIENT, verification).append(Batch(produced(7, 0, 5, transactional=True)))
    ProducerCheck(ProducerEntry(7), CLIENT, verification).append(Batch(produced(7, 0, 3, transactional=True)))
    verification.note(7, 1)
    assert (verification.producer_epoch, verification.lowest_sequence) == (1, 7)


def test_transactions_of_version_2_begin_at_sequence_0() -> None:
    verification = VerificationEntry(0, 5, 0, supports_epoch_bump=True)
    with pytest.raises(OutOfOrderSequenceNumberError):
        ProducerCheck(ProducerEntry(7), CLIENT, verification).append(Batch(produced(7, 0, 5, transactional=True)))


def test_plain_batch_has_no_producer() -> None:
    assert Batch(data_batch()).producer_id == -1
