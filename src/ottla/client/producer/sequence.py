"""The numbers by which a broker knows batches again: producer id, epoch, a sequence per partition (KIP-98, KIP-679).

Pure bookkeeping of what was numbered and has no final answer yet. It keeps what makes an idempotent producer safe: up
to five batches of a partition in flight, numbered without gaps; one until the first is acknowledged; after a retry the
oldest only; no new numbers while the fate of a number is unknown. Where a gap is certain, an idempotent producer goes
on with the next epoch from 0 (KIP-360), and a transactional one has to abort.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.protocol.errors import ErrorCode, error_for

_SEQUENCE_MASK: Final = 0x7FFFFFFF
EPOCH_MAX: Final = 0x7FFF - 1
"""The last epoch that a producer may have; the one above means that the producer id is used up."""


class ProducerIdentity(NamedTuple):
    """The result of InitProducerId."""

    producer_id: int = -1
    epoch: int = -1

    @property
    def is_valid(self) -> bool:
        """Whether there is one."""
        return self.producer_id >= 0


NO_IDENTITY: Final = ProducerIdentity()


@dataclass(slots=True)
class PartitionSequence:
    """One partition's numbers."""

    identity: ProducerIdentity = NO_IDENTITY
    next_sequence: int = 0
    last_acked_sequence: int = -1
    last_acked_offset: int = -1
    in_flight: list[ProducerBatch] = field(default_factory=list)
    """Numbered batches without a final answer, by sequence; those that wait to be sent again included."""
    is_unresolved: bool = False
    """Whether a numbered batch was given up without knowing if the broker has it."""
    sent_to: Uuid = ZERO_UUID
    """The id of the topic that the latest batch was sent to."""
    acked_by: Uuid = ZERO_UUID
    """The id of the topic that acknowledged a batch last: a topic made anew knows nothing of the producer."""

    def is_next(self, sequence: int) -> bool:
        """Whether all numbers before this one were acknowledged."""
        return sequence == (self.last_acked_sequence + 1) & _SEQUENCE_MASK

    def restart(self, identity: ProducerIdentity) -> None:
        """Numbers what is in flight again, from 0 on."""
        self.identity, self.next_sequence = identity, 0
        self.last_acked_sequence = self.last_acked_offset = -1
        self.is_unresolved = False
        for batch in self.in_flight:
            batch.was_resequenced = True
            batch.assign(*identity, self.next_sequence)
            self.next_sequence += batch.count

    def close_gap(self, failed: ProducerBatch) -> None:
        """The broker did not take `failed`, nor will it: the numbers after it move down."""
        self.next_sequence = (self.next_sequence - failed.count) & _SEQUENCE_MASK
        for batch in self.in_flight:
            if (batch.base_sequence - failed.base_sequence) & _SEQUENCE_MASK < 0x40000000:
                batch.was_resequenced = True
                sequence = (batch.base_sequence - failed.count) & _SEQUENCE_MASK
                batch.assign(batch.producer_id, batch.producer_epoch, sequence)


class SequenceLedger:
    """All partitions' numbers of one producer."""

    def __init__(self, *, is_transactional: bool) -> None:
        self.identity = NO_IDENTITY
        self._is_transactional: Final = is_transactional
        self._partitions: Final[dict[PartitionQueue, PartitionSequence]] = {}
        self._to_restart: Final[dict[PartitionQueue, None]] = {}
        self._unresolved: Final[dict[PartitionQueue, None]] = {}

    @property
    def needs_identity(self) -> bool:
        """Whether a producer id has to be asked for before anything can be sent."""
        return not self.identity.is_valid

    @property
    def has_unresolved(self) -> bool:
        """Whether the fate of some number is unknown."""
        return bool(self._unresolved)

    def adopt(self, identity: ProducerIdentity) -> None:
        """A new identity: every partition starts at 0 with it, as soon as nothing of its old one is in flight."""
        self.identity = identity

    def restart_all(self, identity: ProducerIdentity) -> None:
        """A new identity while nothing is in flight: after InitProducerId, or the end of a transaction."""
        self.identity = identity
        self._partitions.clear()
        self._to_restart.clear()
        self._unresolved.clear()

    def entry(self, queue: PartitionQueue) -> PartitionSequence:
        """The partition's numbers."""
        found = self._partitions.get(queue)
        if found is None:
            found = self._partitions.setdefault(queue, PartitionSequence(self.identity))
        return found

    def may_send(self, queue: PartitionQueue, batch: ProducerBatch, topic_id: Uuid = ZERO_UUID) -> bool:
        """Whether the oldest waiting batch of a partition may be sent now, to the topic of this id."""
        entry = self.entry(queue)
        may = self._may_send(entry, batch, topic_id)
        if may:
            entry.sent_to = topic_id
        return may

    def _may_send(self, entry: PartitionSequence, batch: ProducerBatch, topic_id: Uuid) -> bool:
        if batch.has_sequence:
            # After a retry: one at a time, or the broker sees numbers out of order again.
            return entry.in_flight[0] is batch if entry.in_flight else True
        if entry.is_unresolved:
            return False
        # A broker that knows nothing of a producer takes any number for its first: the second batch must not come
        # first, or the first is out of order for ever. A new identity starts at 0, too, which must not overtake what
        # was numbered with the old one. A topic made anew by the same name forgets its producers.
        has_begun = entry.last_acked_sequence >= 0 and entry.identity == self.identity and entry.acked_by == topic_id
        return has_begun or not entry.in_flight

    def number(self, queue: PartitionQueue, batch: ProducerBatch) -> tuple[int, int, int]:
        """Producer id, epoch and base sequence of a batch that is sent for the first time."""
        entry = self.entry(queue)
        if entry.identity != self.identity and not entry.in_flight:
            entry.restart(self.identity)
        sequence = entry.next_sequence
        entry.next_sequence = (sequence + batch.count) & _SEQUENCE_MASK
        entry.in_flight.append(batch)
        return *entry.identity, sequence

    def is_settled(self, queue: PartitionQueue) -> bool:
        """Whether there is nothing to be known or decided before the partition's next number is given out."""
        if not self.identity.is_valid or self._to_restart or self._unresolved:
            return False
        entry = self.entry(queue)
        return entry.identity == self.identity and not entry.in_flight and not entry.is_unresolved

    def take_back(self, batch: ProducerBatch) -> None:
        """A batch got a number that was never written into it."""
        entry = self.entry(batch.queue)
        if batch in entry.in_flight and not batch.has_sequence:
            entry.in_flight.remove(batch)
            entry.next_sequence = (entry.next_sequence - batch.count) & _SEQUENCE_MASK

    def completed(self, batch: ProducerBatch, base_offset: int) -> None:
        """The broker has the batch."""
        entry = self.entry(batch.queue)
        self._remove(entry, batch)
        entry.acked_by = entry.sent_to
        if (batch.producer_id, batch.producer_epoch) == entry.identity:
            newer = (batch.last_sequence - entry.last_acked_sequence) & _SEQUENCE_MASK < 0x40000000
            if entry.last_acked_sequence < 0 or newer:
                entry.last_acked_sequence = batch.last_sequence
        if base_offset >= 0:
            entry.last_acked_offset = max(entry.last_acked_offset, base_offset + batch.count - 1)

    def replaced(self, batch: ProducerBatch, parts: list[ProducerBatch]) -> None:
        """A batch was split: its parts share its numbers."""
        in_flight = self.entry(batch.queue).in_flight
        if batch in in_flight:
            at = in_flight.index(batch)
            in_flight[at : at + 1] = parts

    def may_retry(self, batch: ProducerBatch, code: ErrorCode, log_start_offset: int) -> bool:
        """Whether a refused batch can still be written; asks for a new epoch where only that helps."""
        entry = self.entry(batch.queue)
        if code is ErrorCode.UNKNOWN_PRODUCER_ID:
            return self._may_retry_unknown(batch, entry, log_start_offset)
        if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            is_next = entry.is_next(batch.base_sequence)
            if not entry.is_unresolved and (batch.was_resequenced or not is_next):
                # One before it failed and is sent again first.
                return True
            if self._is_transactional:
                return False
            if not entry.is_unresolved or entry.in_flight[:1] == [batch]:
                self._to_restart[batch.queue] = None
            return True
        return error_for(code).retriable

    def _may_retry_unknown(self, batch: ProducerBatch, entry: PartitionSequence, log_start_offset: int) -> bool:
        """The broker has forgotten the producer, mostly because all its records were deleted by retention."""
        if log_start_offset < 0 or batch.was_resequenced:
            return True
        if self._is_transactional:
            if entry.last_acked_offset < log_start_offset:
                entry.restart(self.identity)
                return True
            return False
        self._to_restart[batch.queue] = None
        return True

    def failed(self, batch: ProducerBatch, code: ErrorCode | None, *, is_certain: bool) -> None:
        """A numbered batch was given up; `is_certain` if the broker surely has not written it."""
        entry = self.entry(batch.queue)
        self._remove(entry, batch)
        if code is ErrorCode.UNKNOWN_PRODUCER_ID:
            entry.restart(self.identity)
        elif code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and not self._is_transactional:
            self._to_restart[batch.queue] = None
        elif not is_certain:
            entry.is_unresolved = True
            self._unresolved[batch.queue] = None
        elif self._is_transactional:
            entry.close_gap(batch)
        else:
            self._to_restart[batch.queue] = None

    def _remove(self, entry: PartitionSequence, batch: ProducerBatch) -> None:
        if batch in entry.in_flight:
            entry.in_flight.remove(batch)

    def resolve(self) -> list[PartitionQueue]:
        """Looks at partitions whose given-up numbers can be judged now: with nothing in flight, gaps are certain.

        Returns the partitions of a transactional producer that have a gap: it has to abort.
        """
        gaps = []
        for queue in [queue for queue in self._unresolved if not self.entry(queue).in_flight]:
            entry = self.entry(queue)
            if entry.is_unresolved and not entry.is_next(entry.next_sequence):
                if self._is_transactional:
                    gaps.append(queue)
                else:
                    self._to_restart[queue] = None
            # Last: another thread that looks at `is_settled` meanwhile must see one mark or the other.
            entry.is_unresolved = False
            del self._unresolved[queue]
        return gaps

    def bump_if_needed(self) -> None:
        """Goes on with the next epoch where an idempotent producer has a gap (KIP-360); no broker is asked.

        The last epoch of an id has been used: `needs_identity` then, and all partitions start again with a new id.
        """
        if not self._to_restart:
            return
        if self.identity.epoch >= EPOCH_MAX:
            self.identity = NO_IDENTITY
            return
        self.identity = ProducerIdentity(self.identity.producer_id, self.identity.epoch + 1)
        self._restart_marked()

    def _restart_marked(self) -> None:
        for queue in self._to_restart:
            self.entry(queue).restart(self.identity)
        self._to_restart.clear()

    def adopt_new(self, identity: ProducerIdentity) -> None:
        """The identity that was missing has come."""
        self.identity = identity
        self._restart_marked()
