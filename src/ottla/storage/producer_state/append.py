"""Decides whether a producer's batches may be appended, and what is remembered of the producer if they are.

Pure. An append of one batch checks it against the entry, and adds it once the bytes are written; an append of several
goes through a copy of the entry, as each must fit the one before. Batches from a leader are believed: a follower that
refused what its leader took would part from it.
"""

import logging

from ottla.protocol.errors import (
    InvalidProducerEpochError,
    InvalidTxnStateError,
    OutOfOrderSequenceNumberError,
    TransactionCoordinatorFencedError,
)
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, read_end_marker
from ottla.protocol.records.reader import decode_batch
from ottla.protocol.records.validation import AppendOrigin
from ottla.storage.producer_state.entry import NO_PRODUCER_EPOCH, ProducerEntry
from ottla.storage.producer_state.transaction import CompletedTransaction
from ottla.storage.producer_state.verification import VerificationEntry

_SEQUENCE_MAX = 2**31 - 1
_EPOCH_MAX = 2**15 - 1
_MARKERS_BUMP_EPOCH_SINCE = 2

_log = logging.getLogger(__name__)


class ProducerCheck:
    """The rules for one producer's batches, seen from the entry as it is.

    `origin` is None for batches that come from a leader or from the log itself.
    """

    __slots__ = ("_origin", "_unknown", "_verification", "entry", "started_offsets", "voided_below_epoch")

    def __init__(
        self, entry: ProducerEntry, origin: AppendOrigin | None, verification: VerificationEntry | None = None
    ) -> None:
        self._origin = origin
        self._unknown = entry.producer_epoch == NO_PRODUCER_EPOCH
        self._verification = verification
        self.entry = entry
        self.started_offsets: tuple[int, ...] = ()
        """Where the transactions begin that were opened; a follower may get several at once."""
        self.voided_below_epoch = NO_PRODUCER_EPOCH
        """Up to which epoch markers void what was verified, whether or not there was a transaction for them to end."""

    def check_data(self, batch: Batch) -> None:
        """Raises the `ApiError` that refuses a batch of data."""
        entry = self.entry
        epoch = batch.producer_epoch
        if epoch < entry.producer_epoch:
            self._refuse_epoch(epoch, batch.base_offset)
        if self._origin is AppendOrigin.CLIENT:
            self._check_sequence(epoch, batch.base_sequence, batch.base_offset)
        if entry.transaction_first_offset is not None and not batch.is_transactional:
            raise InvalidTxnStateError(
                f"Expected transactional write from producer {entry.producer_id} at offset {batch.base_offset}"
            )

    def add_batch(self, batch: Batch) -> None:
        """Remembers a batch of data that has its offsets."""
        entry = self.entry
        entry.add_batch(batch)
        if entry.transaction_first_offset is None and batch.is_transactional:
            entry.transaction_first_offset = batch.base_offset
            self.started_offsets += (batch.base_offset,)

    def append(self, batch: Batch, transaction_version: int = 0) -> CompletedTransaction | None:
        """Checks and remembers a batch of any kind; a marker answers the transaction that it ends."""
        if batch.is_control:
            return self._append_control(batch, transaction_version)
        self.check_data(batch)
        self.add_batch(batch)
        return None

    def _check_sequence(self, epoch: int, sequence: int, offset: int) -> None:
        entry, verification = self.entry, self._verification
        if verification is not None:
            self._check_verified_sequence(verification, sequence, offset)
        if epoch != entry.producer_epoch:
            if sequence != 0 and entry.producer_epoch != NO_PRODUCER_EPOCH:
                raise OutOfOrderSequenceNumberError(
                    f"Invalid sequence number for new epoch of producer {entry.producer_id} at offset {offset}: "
                    f"{epoch} (request epoch), {sequence} (seq. number), "
                    f"{entry.producer_epoch} (current producer epoch)"
                )
            return
        last = entry.last_sequence
        in_sequence = sequence == last + 1 or (sequence == 0 and last == _SEQUENCE_MAX)
        # A producer that was never seen, or forgotten with its records, may go on where it is.
        if not in_sequence and not self._unknown:
            raise OutOfOrderSequenceNumberError(
                f"Out of order sequence number for producer {entry.producer_id} at offset {offset}: "
                f"{sequence} (incoming seq. number), {last} (current end sequence number)"
            )

    def _check_verified_sequence(self, verification: VerificationEntry, sequence: int, offset: int) -> None:
        """Batches are appended in the order of their verification; with KIP-890 an unknown producer begins at 0."""
        entry = self.entry
        if verification.supports_epoch_bump and sequence != 0 and not entry.batches:
            raise OutOfOrderSequenceNumberError(
                f"Invalid sequence number for producer {entry.producer_id} at offset {offset}: {sequence} "
                "(incoming seq. number). Expected sequence 0 for transactions v2 idempotent producer with no "
                "existing state."
            )
        if sequence > verification.lowest_sequence:
            raise OutOfOrderSequenceNumberError(
                f"Out of order sequence number for producer {entry.producer_id} at offset {offset}: {sequence} "
                f"(incoming seq. number), {verification.lowest_sequence} (earliest seen sequence)"
            )

    def _append_control(self, batch: Batch, transaction_version: int) -> CompletedTransaction | None:
        # A control batch without a record is what compaction leaves of a marker whose transaction is gone.
        for record in decode_batch(batch):
            marker = read_end_marker(record)
            if marker is not None:
                return self._append_marker(marker, batch, transaction_version)
        return None

    def _append_marker(
        self, marker: EndTransactionMarker, batch: Batch, transaction_version: int
    ) -> CompletedTransaction | None:
        entry, offset = self.entry, batch.base_offset
        self._check_marker_epoch(batch.producer_epoch, offset, transaction_version)
        if entry.coordinator_epoch > marker.coordinator_epoch:
            message = (
                f"Invalid coordinator epoch for producerId {entry.producer_id} at offset {offset}: "
                f"{marker.coordinator_epoch} (zombie), {entry.coordinator_epoch} (current)"
            )
            if self._origin is not None:
                raise TransactionCoordinatorFencedError(message)
            _log.info("%s", message)
        first_offset = entry.transaction_first_offset
        bumps_epoch = transaction_version >= _MARKERS_BUMP_EPOCH_SINCE
        voided_below = batch.producer_epoch if bumps_epoch else _EPOCH_MAX + 1
        self.voided_below_epoch = max(self.voided_below_epoch, voided_below)
        entry.take_epoch(batch.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = batch.max_timestamp
        entry.transaction_first_offset = None
        if first_offset is None:
            return None
        is_aborted = marker.control_type is ControlRecordType.ABORT
        return CompletedTransaction(entry.producer_id, first_offset, offset, is_aborted)

    def _check_marker_epoch(self, epoch: int, offset: int, transaction_version: int) -> None:
        """From transaction version 2 on a marker bumps the epoch, so one of the current epoch is a late repeat."""
        current = self.entry.producer_epoch
        if transaction_version < _MARKERS_BUMP_EPOCH_SINCE:
            if epoch < current:
                self._refuse_epoch(epoch, offset)
        elif epoch <= current:
            done = self.entry.transaction_first_offset is None
            if epoch < current or not (done or epoch == _EPOCH_MAX):
                self._refuse_epoch(epoch, offset)

    def _refuse_epoch(self, epoch: int, offset: int) -> None:
        message = (
            f"Epoch of producer {self.entry.producer_id} at offset {offset} is {epoch}, "
            f"which is smaller than the last seen epoch {self.entry.producer_epoch}"
        )
        if self._origin is not None:
            raise InvalidProducerEpochError(message)
        _log.warning("%s", message)
