"""The partitions that a broker leads, as far as it has heard: appends, and when what was appended is committed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ottla.broker.coordinator_host.coordinator_log import marker_batch, marker_options
from ottla.coordinator.ports import (
    KeyValue,
    PartitionKey,
    PartitionLeader,
    TransactionalProducer,
    TransactionMarker,
)
from ottla.protocol.errors import ApiError, NotEnoughReplicasError, NotLeaderOrFollowerError
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.validation import AppendOrigin
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.log.append_info import FROM_COORDINATOR, AppendOptions
from ottla.testing.simulation.coordinator.partition import LeaderLog, ReplicatedPartition
from ottla.testing.simulation.node import SimulatedNode

_RETRY_MS: Final = 50
_BATCH_BYTES_MAX: Final = 4_000

Committed = Callable[[ApiError | None], None]
"""Told None once what was appended is committed, or that the leadership was lost before."""


class _Waiting(NamedTuple):
    log: LeaderLog
    end_offset: int
    done: Committed


class ReplicaOutside(NamedTuple):
    """The parts of a simulation that replicas need."""

    partitions: dict[PartitionKey, ReplicatedPartition]
    is_connected: Callable[[int], bool]
    """Whether a broker reaches its followers."""
    replication_ms_max: int


class Replicas:
    """The partitions that one broker leads."""

    def __init__(
        self, node: SimulatedNode, outside: ReplicaOutside, moved: Callable[[PartitionKey, int], None]
    ) -> None:
        """`moved` hears of every new high watermark."""
        self.led: Final[dict[PartitionKey, LeaderLog]] = {}
        self._node: Final = node
        self._outside: Final = outside
        self._moved: Final = moved
        self._waiting: dict[PartitionKey, list[_Waiting]] = {}

    @property
    def now_ms(self) -> int:
        """The broker's time."""
        return self._node.clock.now_ms()

    def take(self, key: PartitionKey, leader: PartitionLeader) -> None:
        """Takes over from the metadata who leads a partition."""
        if leader.broker_id != self._node.id:
            self.led.pop(key, None)
            for waiting in self._waiting.pop(key, ()):
                waiting.done(NotLeaderOrFollowerError())
            return
        partition = self._outside.partitions[key]
        if key not in self.led:
            self.led[key] = partition.log_of((self._node.id, self._node.incarnation), leader.leader_epoch)
        self._replicate_later(key, self.led[key])

    def log(self, key: PartitionKey) -> LeaderLog:
        """The log of a partition that this broker leads; `NotLeaderOrFollowerError` if it does not."""
        log = self.led.get(key)
        if log is None:
            raise NotLeaderOrFollowerError
        return log

    def append(self, key: PartitionKey, records: bytearray, options: AppendOptions) -> int:
        """Writes a batch; the offset after it."""
        log = self.log(key)
        if self._outside.partitions[key].is_short_of_replicas:
            raise NotEnoughReplicasError
        end_offset = log.append(records, options)
        self._replicate_later(key, log)
        return end_offset

    def when_committed(self, key: PartitionKey, end_offset: int, done: Committed) -> None:
        """Tells when everything before an offset is committed."""
        log = self.log(key)
        if log.high_watermark >= end_offset:
            done(None)
        else:
            self._waiting.setdefault(key, []).append(_Waiting(log, end_offset, done))

    def _replicate_later(self, key: PartitionKey, log: LeaderLog) -> None:
        end_offset = log.end_offset
        delay_ms = self._node.random.randint(0, self._outside.replication_ms_max)
        self._node.later(delay_ms, lambda: self._replicate(key, log, end_offset))

    def _replicate(self, key: PartitionKey, log: LeaderLog, end_offset: int) -> None:
        partition = self._outside.partitions[key]
        # A leader that was deposed, whether it knows or not, commits nothing.
        if self.led.get(key) is not log or partition.current is not log or end_offset <= log.high_watermark:
            return
        if not self._outside.is_connected(self._node.id):
            self._node.later(_RETRY_MS, lambda: self._replicate(key, log, end_offset))
            return
        partition.replicated(log, end_offset)
        self._moved(key, log.high_watermark)
        waiting = self._waiting.pop(key, [])
        self._waiting[key] = [one for one in waiting if one.end_offset > log.high_watermark]
        for one in waiting:
            if one.end_offset <= log.high_watermark:
                one.done(None)


class SimulatedShardLog:
    """`ShardLog` on a partition that this broker leads."""

    def __init__(self, replicas: Replicas, key: PartitionKey) -> None:
        self._replicas: Final = replicas
        self._key: Final = key

    @property
    def batch_bytes_max(self) -> int:
        """Little, so that batches become full."""
        return _BATCH_BYTES_MAX

    def append(self, records: Sequence[KeyValue], producer: TransactionalProducer | None) -> int:
        """See `ShardLog`."""
        timestamp_ms = self._replicas.now_ms
        tuples: list[RecordTuple] = [
            (offset, timestamp_ms, key, value, ()) for offset, (key, value) in enumerate(records)
        ]
        if producer is None:
            return self._replicas.append(self._key, write_batch(tuples), FROM_COORDINATOR)
        batch = write_batch(
            tuples,
            BatchOptions(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                base_sequence=0,
                is_transactional=True,
            ),
        )
        cleared = producer.verification
        assert isinstance(cleared, AppendOptions)
        return self._replicas.append(self._key, batch, replace(cleared, origin=AppendOrigin.COORDINATOR))

    def append_marker(self, marker: TransactionMarker) -> int:
        """See `ShardLog`."""
        return self._replicas.append(self._key, marker_batch(marker, self._replicas.now_ms), marker_options(marker))
