"""A log in memory for shards, and a place for answers to go."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from immutables import Map

from ottla.coordinator.ports import KeyValue, TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.loading import StoredBatch, StoredMarker
from ottla.coordinator.runtime.machine import RecordCodec
from ottla.coordinator.runtime.shard import Shard
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ApiError
from ottla.protocol.transaction_log import TRANSACTION_LOG, TransactionLogKey, TransactionLogValue


class Appended(NamedTuple):
    """A batch as the log has it; control batches have a marker and no records."""

    base_offset: int
    end_offset: int
    records: Sequence[KeyValue]
    producer: TransactionalProducer | None
    marker: TransactionMarker | None


class MemoryLog:
    """A `ShardLog` that keeps its batches; `fail_with` makes the next appends fail."""

    def __init__(self, batch_bytes_max: int = 1_048_588) -> None:
        self.batch_bytes_max = batch_bytes_max
        self.batches: list[Appended] = []
        self.end_offset = 0
        self.fail_with: ApiError | None = None
        self.commits_at_once: Shard[Any] | None = None
        """The shard that hears of the high watermark within the append, as with a single replica."""

    def append(self, records: Sequence[KeyValue], producer: TransactionalProducer | None) -> int:
        return self._add(len(records), Appended(0, 0, list(records), producer, None))

    def append_marker(self, marker: TransactionMarker) -> int:
        return self._add(1, Appended(0, 0, (), None, marker))

    def _add(self, count: int, batch: Appended) -> int:
        if self.fail_with is not None:
            raise self.fail_with
        base, self.end_offset = self.end_offset, self.end_offset + count
        self.batches.append(batch._replace(base_offset=base, end_offset=self.end_offset))
        if self.commits_at_once is not None:
            self.commits_at_once.committed(self.end_offset)
        return self.end_offset

    def truncate_to(self, offset: int) -> None:
        """Drops the batches from `offset` on, as a new leader that never had them would."""
        self.batches = [batch for batch in self.batches if batch.end_offset <= offset]
        self.end_offset = self.batches[-1].end_offset if self.batches else 0

    def load_into(self, shard: Shard[Any], now_ms: int = 0) -> None:
        """Feeds all batches to a new shard."""
        for batch in self.batches:
            shard.load(_stored(batch))
        shard.finish_load(self.end_offset, now_ms)


class Answers:
    """Collects what callbacks are called with."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def __call__(self, answer: Any) -> None:
        self.given.append(answer)

    @property
    def only(self) -> Any:
        """The one answer there is."""
        (answer,) = self.given
        return answer


def _stored(batch: Appended) -> StoredBatch | StoredMarker:
    if batch.marker is not None:
        marker = batch.marker
        return StoredMarker(batch.end_offset, marker.producer_id, marker.producer_epoch, marker.committed)
    records = [(batch.base_offset + place, key, value) for place, (key, value) in enumerate(batch.records)]
    if batch.producer is None:
        return StoredBatch(batch.end_offset, records)
    return StoredBatch(batch.end_offset, records, batch.producer.producer_id, batch.producer.producer_epoch)


class Numbers(NamedTuple):
    """The state of a `NumberMachine`."""

    by_name: Map[str, int]
    pending: Map[int, tuple[tuple[str, int], ...]]


class NumberMachine(RecordCodec):
    """A machine whose state is a number for each name; what a transaction sets counts after its commit marker."""

    def __init__(self) -> None:
        super().__init__(TRANSACTION_LOG)
        self.loaded_at_ms: int | None = None
        self.unloads = 0

    def initial(self) -> Numbers:
        return Numbers(Map(), Map())

    def replay(
        self, state: Numbers, record: CoordinatorRecord, offset: int, producer_id: int, producer_epoch: int
    ) -> Numbers:
        key, value = record.key, record.value
        assert isinstance(key, TransactionLogKey)
        name = key.transactional_id
        if value is None:
            return state._replace(by_name=state.by_name.delete(name))
        assert isinstance(value, TransactionLogValue)
        if producer_id == -1:
            return state._replace(by_name=state.by_name.set(name, value.producer_id))
        pending = (*state.pending.get(producer_id, ()), (name, value.producer_id))
        return state._replace(pending=state.pending.set(producer_id, pending))

    def replay_marker(self, state: Numbers, producer_id: int, producer_epoch: int, *, committed: bool) -> Numbers:
        if producer_id not in state.pending:
            return state
        by_name = state.by_name.update(state.pending[producer_id]) if committed else state.by_name
        return Numbers(by_name, state.pending.delete(producer_id))

    def loaded(self, state: Numbers, now_ms: int) -> None:
        self.loaded_at_ms = now_ms

    def unloaded(self) -> None:
        self.unloads += 1


def number_record(name: str, number: int | None) -> CoordinatorRecord:
    """Sets a name's number, or removes it."""
    key = TransactionLogKey(transactional_id=name)
    if number is None:
        return CoordinatorRecord(key, None, -1)
    return CoordinatorRecord(key, TransactionLogValue(producer_id=number), 0)


def setting(name: str, number: int | None, **options: Any) -> Callable[[Numbers, int], CoordinatorResult]:
    """An operation that sets a number and answers with what it was before."""
    return lambda state, _: CoordinatorResult([number_record(name, number)], state.by_name.get(name), **options)
