"""The truth: what the committed logs say, replayed beside all brokers as soon as it can't be lost any more.

Shards in here are fed as those of a broker that loads, and never take an operation.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ottla.coordinator.group.group_factory import GroupContext, new_group_shard
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.ports import PartitionKey, TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.loading import StoredBatch, StoredMarker
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.timers import Timers
from ottla.coordinator.txn.txn_machine import TxnMachine, TxnState
from ottla.protocol.errors import NotLeaderOrFollowerError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, read_end_marker
from ottla.protocol.records.reader import decode_batch
from ottla.testing.simulation.coordinator.history import InputRecord, read_value
from ottla.testing.simulation.coordinator.image import OFFSETS, TRANSACTIONS
from ottla.testing.simulation.coordinator.shard_load import stored

NO_OFFSET: Final = -1


class GroupPartition(NamedTuple):
    """A partition that a group has an offset of."""

    group_id: str
    topic: str
    partition: int


class OffsetStep(NamedTuple):
    """A committed offset went from one value to another; -1 is none."""

    place: GroupPartition
    before: int
    after: int


class VisibleRecord(NamedTuple):
    """A record that a read_committed consumer gets to see."""

    key: PartitionKey
    attempt_number: int
    record: InputRecord


class _ReadOnlyLog:
    """`ShardLog` of a shard that writes nothing."""

    batch_bytes_max: Final = 0

    def append(self, records: Any, producer: TransactionalProducer | None) -> int:
        raise NotLeaderOrFollowerError

    def append_marker(self, marker: TransactionMarker) -> int:
        raise NotLeaderOrFollowerError


class _NoLifecycle:
    """A lifecycle without effect: a witness has no soft state."""

    def loaded(self, state: TxnState, now_ms: int) -> None:
        """Never called."""

    def unloaded(self) -> None:
        """Never called."""


class CommittedReader:
    """A partition as a read_committed consumer sees it."""

    def __init__(self, key: PartitionKey) -> None:
        self._key: Final = key
        self._open: dict[int, list[VisibleRecord]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open in the partition."""
        return not self._open

    def take(self, batch: Batch) -> list[VisibleRecord]:
        """Reads the next batch; the records that it makes visible, which are those that a commit marker ends."""
        if not batch.is_control:
            found = [VisibleRecord(self._key, *read_value(value or b"")) for _, _, _, value, _ in decode_batch(batch)]
            self._open.setdefault(batch.producer_id, []).extend(found)
            return []
        ended = self._open.pop(batch.producer_id, [])
        for record in decode_batch(batch):
            marker = read_end_marker(record)
            if marker is not None and marker.control_type is ControlRecordType.COMMIT:
                return ended
        return []


class Witness:
    """Replays all committed logs."""

    def __init__(self, context: GroupContext) -> None:
        self.groups: Final[dict[int, Shard[GroupsState]]] = {}
        self.transactions: Final[dict[int, Shard[TxnState]]] = {}
        self.readers: Final[dict[PartitionKey, CommittedReader]] = {}
        self.offsets: Final[dict[int, dict[GroupPartition, int]]] = {}
        """Committed offsets by partition of `__consumer_offsets`."""
        self.seen_offsets: Final[set[tuple[GroupPartition, int]]] = set()
        """Every offset that was ever committed."""
        self.offset_steps: list[OffsetStep] = []
        """Since it was last looked at."""
        self.visible: list[VisibleRecord] = []
        """Became visible since it was last looked at."""
        self._compared: Final[dict[int, object]] = {}
        """The persistent maps that `offsets` was made of: the same map has the same offsets."""
        self.batches = 0
        self.fingerprint = 0
        self._surroundings: Final = context

    def committed(self, key: PartitionKey, batches: list[Batch]) -> None:
        """Batches of a partition can't be lost any more."""
        for batch in batches:
            self.batches += 1
            self.fingerprint = (self.fingerprint * 31 + batch.crc) % (1 << 61)
            if key.topic == OFFSETS:
                for part in _one_by_one(stored(batch)):
                    self._group(key.partition).load(part)
                    self._compare_offsets(key.partition)
            elif key.topic == TRANSACTIONS:
                self._transaction(key.partition).load(stored(batch))
            else:
                self.visible += self.readers.setdefault(key, CommittedReader(key)).take(batch)

    def shard(self, key: PartitionKey) -> Shard[Any]:
        """A coordinator's state as its committed log has it."""
        return self._group(key.partition) if key.topic == OFFSETS else self._transaction(key.partition)

    def group(self, partition: int, group_id: str) -> Any:
        """A group as it is committed; None if there is none."""
        return self._group(partition).state.groups.get(group_id)

    def new_shard(self, key: PartitionKey) -> Shard[Any]:
        """A shard that a coordinator's log can be loaded into."""
        if key.topic == OFFSETS:
            return new_group_shard(key.partition, _ReadOnlyLog(), self._surroundings)
        return Shard(key.partition, TxnMachine(_NoLifecycle()), _ReadOnlyLog(), Timers())

    def _group(self, partition: int) -> Shard[GroupsState]:
        if partition not in self.groups:
            self.groups[partition] = self.new_shard(PartitionKey(OFFSETS, partition))
        return self.groups[partition]

    def _transaction(self, partition: int) -> Shard[TxnState]:
        if partition not in self.transactions:
            self.transactions[partition] = self.new_shard(PartitionKey(TRANSACTIONS, partition))
        return self.transactions[partition]

    def _compare_offsets(self, partition: int) -> None:
        committed = self._group(partition).state.offsets.committed
        if committed is self._compared.get(partition):
            return
        self._compared[partition] = committed
        found = {
            GroupPartition(group_id, topic, index): value.offset
            for group_id, topics in committed.items()
            for topic, partitions in topics.items()
            for index, value in partitions.items()
        }
        known = self.offsets.get(partition, {})
        self.offsets[partition] = found
        if found != known:
            for place in sorted({*found, *known}):
                before, after = known.get(place, NO_OFFSET), found.get(place, NO_OFFSET)
                if before != after:
                    self.offset_steps.append(OffsetStep(place, before, after))
                    self.seen_offsets.add((place, after))


def _one_by_one(batch: StoredBatch | StoredMarker) -> Iterator[StoredBatch | StoredMarker]:
    """A batch with many records as many batches: one offset of a place may be followed by another within it."""
    if isinstance(batch, StoredBatch):
        for record in batch.records:
            yield batch._replace(end_offset=record[0] + 1, records=(record,))
    else:
        yield batch
