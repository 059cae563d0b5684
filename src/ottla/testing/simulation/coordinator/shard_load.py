"""Feeds a led partition's log into the shard on top of it, a few batches at a time."""

from typing import Any, Final

from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.runtime.loading import StoredBatch, StoredMarker
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, read_end_marker
from ottla.protocol.records.reader import decode_batch
from ottla.testing.simulation.coordinator.replica import Replicas
from ottla.testing.simulation.node import SimulatedNode

_SLICE_BATCHES: Final = 50


def stored(batch: Batch) -> StoredBatch | StoredMarker:
    """A batch as a shard takes it."""
    records = decode_batch(batch)
    if batch.is_control:
        for record in records:
            marker = read_end_marker(record)
            if marker is not None:
                committed = marker.control_type is ControlRecordType.COMMIT
                return StoredMarker(batch.next_offset, batch.producer_id, batch.producer_epoch, committed)
        return StoredBatch(batch.next_offset, ())
    found = [(offset, key or b"", value) for offset, _, key, value, _ in records]
    if not batch.is_transactional:
        return StoredBatch(batch.next_offset, found)
    return StoredBatch(batch.next_offset, found, batch.producer_id, batch.producer_epoch)


class ShardLoad:
    """Loads the shards of one internal topic on one broker."""

    def __init__(self, node: SimulatedNode, replicas: Replicas, topic: str, load_ms_max: int) -> None:
        self.shards: ShardSet[Any] | None = None
        """Where they are, set once that is known."""
        self._node: Final = node
        self._replicas: Final = replicas
        self._topic: Final = topic
        self._load_ms_max: Final = load_ms_max

    def start(self, shard: Shard[Any]) -> None:
        """Has a shard loaded after a while."""
        self._later(shard, 0)

    def _later(self, shard: Shard[Any], position: int) -> None:
        delay_ms = self._node.random.randint(0, self._load_ms_max)
        self._node.later(delay_ms, lambda: self._go_on(shard, position))

    def _go_on(self, shard: Shard[Any], position: int) -> None:
        log = self._replicas.led.get(PartitionKey(self._topic, shard.partition))
        if shard.status is not ShardStatus.LOADING or log is None or self.shards is None:
            return
        end = min(position + _SLICE_BATCHES, len(log.batches))
        for batch in log.batches[position:end]:
            shard.load(stored(batch))
        if end < len(log.batches):
            self._later(shard, end)
            return
        summary = shard.finish_load(log.end_offset, self._node.clock.now_ms())
        self._node.note("loaded {}-{}: {} records", self._topic, shard.partition, summary.records)
        self.shards.committed(shard.partition, log.high_watermark)
