"""All producers of one partition, and their transactions; in memory only, see `snapshot` for the disk.

`end_offset` is the offset up to which the log is reflected here. The order of an append is: `find_duplicate`,
`check` (raises what refuses it), the write, `update`, and `complete` for each marker.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ottla.protocol.errors import InvalidProducerEpochError, InvalidTxnStateError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.validation import AppendOrigin
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.producer_state.append import ProducerCheck
from ottla.storage.producer_state.entry import NO_PRODUCER_EPOCH, BatchMetadata, ProducerEntry
from ottla.storage.producer_state.transaction import CompletedTransaction, OpenTransactions
from ottla.storage.producer_state.verification import VerificationEntry

EXPIRY_STEP: Final = 2_000
"""How many producers one step of expiry looks at."""


class ProducerState:
    """The producers of one partition."""

    __slots__ = ("_receipts_used", "_verifications", "end_offset", "entries", "expiration_ms", "transactions")

    def __init__(self, expiration_ms: int) -> None:
        self.expiration_ms = expiration_ms
        self.entries: dict[int, ProducerEntry] = {}
        self.transactions = OpenTransactions()
        self._verifications: dict[int, VerificationEntry] = {}
        """Questions that no batch was appended for yet."""
        self._receipts_used: dict[int, VerificationEntry] = {}
        """Questions whose answer opened the transaction that is open now; other writes may still wait for it."""
        self.end_offset = 0

    def find_duplicate(self, batch: Batch) -> BatchMetadata | None:
        """The batch that this one repeats."""
        entry = self.entries.get(batch.producer_id)
        if entry is None:
            return None
        return entry.find_batch(batch.producer_epoch, batch.base_sequence, batch.last_sequence)

    def in_sequence(self, batch: Batch) -> ProducerEntry | None:
        """The entry of a client's producer, if its batch just goes on in what it is doing.

        That is so for nearly every batch, and then there is nothing to refuse: it repeats none, its epoch is the
        known one, and it belongs to the open transaction or there is none.
        """
        entry = self.entries.get(batch.producer_id)
        if (
            entry is not None
            and entry.batches
            and batch.base_sequence == entry.batches[-1].last_sequence + 1
            and batch.producer_epoch == entry.producer_epoch
            and batch.is_transactional == (entry.transaction_first_offset is not None)
        ):
            return entry
        return None

    def check(self, producer_id: int, origin: AppendOrigin | None) -> ProducerCheck:
        """The rules for a producer, on its live entry; `update` makes the entry known if it is new."""
        entry = self.entries.get(producer_id) or ProducerEntry(producer_id)
        return ProducerCheck(entry, origin, self._verifications.get(producer_id))

    def check_copy(self, producer_id: int, origin: AppendOrigin | None) -> ProducerCheck:
        """The rules for a producer, on a copy of its entry; `update` replaces the live entry by the copy."""
        entry = self.entries.get(producer_id)
        copy = ProducerEntry(producer_id) if entry is None else entry.copy()
        return ProducerCheck(copy, origin, self._verifications.get(producer_id))

    def update(self, checks: Iterable[ProducerCheck]) -> None:
        """Takes over what an append did, for each of its producers."""
        started: list[tuple[int, int]] = []
        for check in checks:
            entry = check.entry
            self.entries[entry.producer_id] = entry
            if check.started_offsets:
                started += [(offset, entry.producer_id) for offset in check.started_offsets]
                self._use_receipt(entry.producer_id)
            if check.voided_below_epoch != NO_PRODUCER_EPOCH:
                self._void(entry.producer_id, check.voided_below_epoch)
        if started:
            for first_offset, producer_id in sorted(started):
                self.transactions.start(producer_id, first_offset)

    def replay(self, batch: Batch) -> CompletedTransaction | None:
        """Takes in a batch that is in the log already; the caller completes the transaction it may end."""
        check = self.check(batch.producer_id, None)
        completed = check.append(batch)
        self.update((check,))
        return completed

    def complete(self, completed: CompletedTransaction) -> AbortedTransaction | None:
        """Ends a transaction; if it was aborted, the entry for the transaction index."""
        last_stable_offset = self.transactions.stable_offset_after(completed)
        self.transactions.complete(completed)
        if not completed.is_aborted:
            return None
        return AbortedTransaction(
            completed.producer_id, completed.first_offset, completed.last_offset, last_stable_offset
        )

    def _use_receipt(self, producer_id: int) -> None:
        verification = self._verifications.pop(producer_id, None)
        if verification is not None:
            self._receipts_used[producer_id] = verification

    def _void(self, producer_id: int, below_epoch: int) -> None:
        for verifications in (self._verifications, self._receipts_used):
            verification = verifications.get(producer_id)
            if verification is not None and verification.producer_epoch < below_epoch:
                verification.is_void = True
                del verifications[producer_id]

    def has_open_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether the producer has a transaction open here in this epoch."""
        entry = self.entries.get(producer_id)
        return (
            entry is not None and entry.transaction_first_offset is not None and entry.producer_epoch == producer_epoch
        )

    def start_verification(self, batch: Batch, now_ms: int, *, supports_epoch_bump: bool) -> VerificationEntry | None:
        """The receipt for asking the coordinator about a transactional batch; None if there is no need to ask."""
        producer_id, epoch = batch.producer_id, batch.producer_epoch
        self._check_epoch(producer_id, epoch)
        if self.has_open_transaction(producer_id, epoch):
            return None
        verification = self._verifications.get(producer_id)
        if verification is None:
            verification = VerificationEntry(
                now_ms, batch.base_sequence, epoch, supports_epoch_bump=supports_epoch_bump
            )
            self._verifications[producer_id] = verification
        verification.note(batch.base_sequence, epoch)
        return verification

    def check_verified(self, batch: Batch, verification: VerificationEntry | None) -> None:
        """Refuses a batch of a transaction which the coordinator was not asked about, or that is over."""
        if batch.is_control:
            return
        is_void = verification is not None and verification.is_void
        if not is_void and self.has_open_transaction(batch.producer_id, batch.producer_epoch):
            return
        self._check_epoch(batch.producer_id, batch.producer_epoch)
        if verification is None or self._verifications.get(batch.producer_id) is not verification:
            raise InvalidTxnStateError("Record was not part of an ongoing transaction")

    def _check_epoch(self, producer_id: int, epoch: int) -> None:
        entry = self.entries.get(producer_id)
        if entry is not None and epoch < entry.producer_epoch:
            raise InvalidProducerEpochError(
                f"Epoch of producer {producer_id} is {epoch}, "
                f"which is smaller than the last seen epoch {entry.producer_epoch}"
            )

    def load(self, entries: Iterable[ProducerEntry], end_offset: int, now_ms: int) -> None:
        """Starts over from a snapshot; producers that were silent for too long stay forgotten."""
        self.clear(end_offset)
        kept = [entry for entry in entries if not self._is_expired(entry, now_ms)]
        self.entries = {entry.producer_id: entry for entry in kept}
        opened = [(entry.transaction_first_offset, entry.producer_id) for entry in kept]
        for first_offset, producer_id in sorted((first, pid) for first, pid in opened if first is not None):
            self.transactions.start(producer_id, first_offset)

    def clear(self, end_offset: int) -> None:
        """Forgets everything; the log is reflected up to the offset."""
        self.entries = {}
        self.transactions.clear()
        self._verifications = {}
        self._receipts_used = {}
        self.end_offset = end_offset

    def remove_expired(self, now_ms: int) -> Iterator[None]:
        """Forgets producers that wrote nothing for `producer.id.expiration.ms` and have no transaction open.

        Some at each step, among those that are known at the first: decided by what they are when their turn comes.
        """
        producer_ids = list(self.entries)
        for start in range(0, len(producer_ids), EXPIRY_STEP):
            if start:
                yield
            for producer_id in producer_ids[start : start + EXPIRY_STEP]:
                entry = self.entries.get(producer_id)
                if entry is not None and self._is_expired(entry, now_ms):
                    del self.entries[producer_id]
        self._remove_old_verifications(now_ms)

    def _remove_old_verifications(self, now_ms: int) -> None:
        for verifications in (self._verifications, self._receipts_used):
            for producer_id, verification in list(verifications.items()):
                if now_ms - verification.created_ms >= self.expiration_ms:
                    del verifications[producer_id]

    def _is_expired(self, entry: ProducerEntry, now_ms: int) -> bool:
        return entry.transaction_first_offset is None and now_ms - entry.last_timestamp >= self.expiration_ms
