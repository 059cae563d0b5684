"""The state of one producer in one partition."""

from typing import NamedTuple

from ottla.protocol.records.batch import Batch

BATCHES_KEPT = 5
"""A producer may have this many requests in flight; a repeat of any of them is recognised."""
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
_SEQUENCES = 2**31


class BatchMetadata(NamedTuple):
    """One of a producer's last batches."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @classmethod
    def of(cls, batch: Batch) -> "BatchMetadata":
        """Of a batch that has its offsets."""
        delta = batch.last_offset_delta
        return cls(batch.last_sequence, batch.base_offset + delta, delta, batch.max_timestamp)

    def precedes(self, following: "BatchMetadata") -> bool:
        """Whether the other's sequence numbers go on where this one's end."""
        return (self.last_sequence + 1) % _SEQUENCES == following.first_sequence

    @property
    def first_sequence(self) -> int:
        """The first record's sequence number; numbers wrap to 0 after 2^31-1."""
        return (self.last_sequence - self.offset_delta) % _SEQUENCES

    @property
    def first_offset(self) -> int:
        """The first record's offset."""
        return self.last_offset - self.offset_delta


class ProducerEntry:
    """A producer's epoch, last batches and open transaction. A change of epoch forgets the batches of the old one."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "is_from_snapshot",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
        "transaction_first_offset",
    )

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.transaction_first_offset: int | None = None
        self.batches: tuple[BatchMetadata, ...] = ()
        self.is_from_snapshot = False
        """Whether the log may have more of the last batches than are known here."""

    def copy(self) -> "ProducerEntry":
        """An entry to try an append on."""
        other = ProducerEntry.__new__(ProducerEntry)
        other.producer_id = self.producer_id
        other.producer_epoch = self.producer_epoch
        other.coordinator_epoch = self.coordinator_epoch
        other.last_timestamp = self.last_timestamp
        other.transaction_first_offset = self.transaction_first_offset
        other.batches = self.batches
        other.is_from_snapshot = self.is_from_snapshot
        return other

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; -1 if no batch of this epoch is known."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def add_batch(self, batch: Batch) -> None:
        """Remembers a batch of data that has its offsets, and forgets the oldest if there are too many."""
        if batch.producer_epoch != self.producer_epoch:
            self.take_epoch(batch.producer_epoch)
        added = BatchMetadata.of(batch)
        self.batches = (*self.batches[1 - BATCHES_KEPT :], added)
        self.last_timestamp = added.timestamp

    def take_epoch(self, producer_epoch: int) -> None:
        """Moves to an epoch; sequence numbers start again in a new one."""
        if producer_epoch != self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.batches = ()
            self.is_from_snapshot = False

    def may_be_older(self, batch: Batch) -> bool:
        """Whether a batch may be one of the last, but before those that are known."""
        return (
            self.is_from_snapshot
            and 0 < len(self.batches) < BATCHES_KEPT
            and batch.producer_epoch == self.producer_epoch
            and (self.batches[0].first_sequence - batch.last_sequence) % _SEQUENCES < _SEQUENCES // 2
        )

    def find_batch(self, producer_epoch: int, first_sequence: int, last_sequence: int) -> BatchMetadata | None:
        """The remembered batch with exactly these sequence numbers."""
        if producer_epoch == self.producer_epoch:
            for batch in self.batches:
                if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
                    return batch
        return None
