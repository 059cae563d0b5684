"""`ShardLog` on a partition that this broker leads: the coordinators' batches, and when they are committed.

What is committed is what all in-sync replicas have, and what is flushed where the topic asks for that. With one replica
both are known when the append returns, and the shard hears of it within the call.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ottla.base.clock import Clock
from ottla.coordinator.ports import KeyValue, TransactionalProducer, TransactionMarker
from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.pair_batch import write_pairs
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.validation import AppendOrigin
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.replication.partition.partition import ALL_IN_SYNC, Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.log.append_info import FROM_COORDINATOR, AppendOptions
from ottla.storage.topic_partition import TopicPartition

NO_LIMIT_MS: Final = 2**31 - 1
"""The shard gives up answers by itself; the high watermark is waited for as long as this broker leads."""
_BATCH_BYTES_MAX: Final = 1_048_588
"""Of a partition that is not here; an append to it is refused anyway."""
_REPLICATED: Final = (ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
"""The high watermark has passed the records: they can't be lost to a new leader."""


def marker_batch(marker: TransactionMarker, timestamp_ms: int) -> bytearray:
    """The control batch that ends a transaction in a partition."""
    kind = ControlRecordType.COMMIT if marker.committed else ControlRecordType.ABORT
    return write_end_marker(
        EndTransactionMarker(kind, marker.coordinator_epoch),
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        timestamp=timestamp_ms,
    )


def marker_options(marker: TransactionMarker) -> AppendOptions:
    """The options for appending a marker."""
    return AppendOptions(origin=AppendOrigin.COORDINATOR, transaction_version=marker.transaction_version)


class PartitionShardLog:
    """The log of one shard. Loop thread only."""

    def __init__(
        self,
        replicas: ReplicaManager,
        partition: TopicPartition,
        clock: Clock,
        committed: Callable[[int], None],
        compression: CompressionType = CompressionType.NONE,
    ) -> None:
        """`clock` tells the time of day; `committed` hears of the high watermark, maybe within an append."""
        self._clock: Final = clock
        self.committed_at_once = committed
        """Hears of it instead within an append that has nothing to wait for."""
        self._replicas: Final = replicas
        self._append_alone: Final = replicas.append_alone
        self._partition: Final = partition
        self._committed: Final = committed
        self._options: Final = BatchOptions(compression=compression)
        self._is_plain: Final = compression is CompressionType.NONE

    @property
    def batch_bytes_max(self) -> int:
        """The most bytes of a batch, by the topic's settings."""
        partition = self._replicas.get(*self._partition)
        if partition is None:
            return _BATCH_BYTES_MAX
        config = partition.log.config
        return min(config.max_message_bytes, config.segment_bytes)

    def append(self, records: list[KeyValue], producer: TransactionalProducer | None) -> int:
        """Writes one batch; the log's end offset after it."""
        timestamp_ms = self._clock.now_ms()
        if producer is None and self._is_plain:
            # With one replica straight to it: what is written is committed.
            topic, index = self._partition
            batch = write_pairs(records, timestamp_ms)
            outcome = self._append_alone(topic, index, batch, ALL_IN_SYNC)
            if outcome is None:
                return self._write(batch, FROM_COORDINATOR)
            if type(outcome) is AppendResult:
                raise error_for(outcome.error_code)
            end_offset = outcome[1] + 1
            self.committed_at_once(end_offset)
            return end_offset
        tuples: list[RecordTuple] = [
            (offset, timestamp_ms, key, value, ()) for offset, (key, value) in enumerate(records)
        ]
        if producer is None:
            return self._write(write_batch(tuples, self._options), FROM_COORDINATOR)
        options = BatchOptions(
            compression=self._options.compression,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        return self._write(write_batch(tuples, options), _transactional(producer))

    def append_marker(self, marker: TransactionMarker) -> int:
        """Writes a control batch that ends a transaction; the log's end offset after it."""
        return self._write(marker_batch(marker, self._clock.now_ms()), marker_options(marker))

    def watch(self) -> None:
        """Tells of the high watermark now, and again when it has reached the log's present end."""
        partition = self._replicas.get(*self._partition)
        if partition is None:
            return
        log = partition.log
        self._committed(log.high_watermark)
        if log.high_watermark < log.next_offset:
            wait = _HighWatermarkWait(partition, log.next_offset, self._committed)
            self._replicas.waiting.produces.watch(wait, (partition,), NO_LIMIT_MS)

    def _write(self, batch: bytearray, options: AppendOptions) -> int:
        write = _Write(self._committed)
        topic, index = self._partition
        # The error if nothing was written is known when this returns, whatever is waited for afterwards.
        self._replicas.append(
            [AppendEntry(topic, index, batch, options)],
            acks=ALL_IN_SYNC,
            timeout_ms=NO_LIMIT_MS,
            done=write.done,
            internal_topics_allowed=True,
        )
        result = write.result
        if result is not None:
            if result.error_code not in _REPLICATED:
                raise error_for(result.error_code)
            return result.last_offset + 1
        return self._replicas.leader(topic, index).log.next_offset


class _Write:
    """One append, until it is committed or lost."""

    __slots__ = ("_committed", "result")

    def __init__(self, committed: Callable[[int], None]) -> None:
        self._committed = committed
        self.result: AppendResult | None = None

    def done(self, results: Sequence[AppendResult]) -> None:
        """The outcome of the append. A lost leadership reaches the shard through the metadata, not from here."""
        self.result = result = results[0]
        if result.error_code in _REPLICATED:
            self._committed(result.last_offset + 1)


class _HighWatermarkWait:
    """Waits for a new leader's high watermark to reach what was there before it."""

    __slots__ = ("_committed", "_end_offset", "_partition")

    def __init__(self, partition: Partition, end_offset: int, committed: Callable[[int], None]) -> None:
        self._partition = partition
        self._end_offset = end_offset
        self._committed = committed

    def is_ready(self, key: Partition) -> bool:
        """Whether it is there, or never will be because this broker leads no more."""
        return not key.is_leader or key.high_watermark >= self._end_offset

    def complete(self) -> None:
        """Tells of it."""
        if self._partition.is_leader:
            self._committed(self._partition.high_watermark)

    def expired(self) -> None:
        """After weeks without a quorum of replicas: nothing to tell."""


def _transactional(producer: TransactionalProducer) -> AppendOptions:
    """The verification of the coordinator's own batch, as `transaction_check` makes it."""
    cleared = producer.verification
    return replace(cleared, origin=AppendOrigin.COORDINATOR) if isinstance(cleared, AppendOptions) else FROM_COORDINATOR
