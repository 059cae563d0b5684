"""Appends for a produce request: each partition in turn, then whatever the producer wants to wait for.

With one replica everything is known when the write is done, and the answer goes out within the call.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ottla.base.clock import Clock
from ottla.protocol.errors import (
    ApiError,
    CorruptMessageError,
    ErrorCode,
    InvalidTopicError,
    KafkaStorageError,
    MessageTooLargeError,
    NotLeaderOrFollowerError,
    RecordListTooLargeError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.records.validation import InvalidRecordsError, InvalidTimestampsError, RecordError
from ottla.replication.internal_topic import is_open_to_clients
from ottla.replication.partition.partition import ALL_IN_SYNC, Partition
from ottla.replication.partition_table import PartitionTable
from ottla.replication.request.flush_wait import FlushWait
from ottla.replication.request.pending_append import PendingAppend
from ottla.replication.request.produce import AppendDone, AppendEntry, AppendResult
from ottla.replication.schedule.waiting import Waiting
from ottla.storage.errors import BusyDiskError, StorageError
from ottla.storage.log.append_info import AppendInfo
from ottla.storage.log_config_keys import LONG_MAX

_BEFORE_THE_LOG: Final = (
    UnknownTopicOrPartitionError,
    NotLeaderOrFollowerError,
    MessageTooLargeError,
    RecordListTooLargeError,
    CorruptMessageError,
    KafkaStorageError,
    UnknownTopicIdError,
    InvalidTopicError,
)
"""Refusals with which Kafka does not say where the log starts."""
_NO_ERRORS: Final[Sequence[RecordError]] = ()


class Appender:
    """Serves `ReplicaManager.append`. `failed` hears of every I/O error."""

    def __init__(
        self,
        table: PartitionTable,
        waiting: Waiting,
        flush_wait: FlushWait,
        clock: Clock,
        failed: Callable[[StorageError], None],
    ) -> None:
        self._table: Final = table
        self._online: Final = table.online
        self._waiting: Final = waiting
        self._fetches: Final = waiting.fetches.watched
        self._produces: Final = waiting.produces.watched
        self._flush_wait: Final = flush_wait
        self._clock: Final = clock
        self._failed: Final = failed

    def append(
        self,
        entries: Sequence[AppendEntry],
        *,
        acks: int,
        timeout_ms: int,
        done: AppendDone,
        internal_topics_allowed: bool = False,
    ) -> None:
        """Appends to each partition, and calls `done` once as many replicas have it as `acks` wants.

        That is within this call if there is nothing to wait for. A partition that is named twice counts once.
        """
        if len(entries) > 1:
            # The last one counts, in the place of the first: so does Kafka's map.
            entries = list({entry[:2]: entry for entry in entries}.values())
        if acks != 1 and acks != 0 and acks != ALL_IN_SYNC:
            done([AppendResult(entry.topic, entry.partition, ErrorCode.INVALID_REQUIRED_ACKS) for entry in entries])
            return
        now_ms = self._clock.now_ms()
        results: list[AppendResult] = []
        written: list[Partition] = []
        waits = False
        for topic, index, records, options in entries:
            try:
                partition = self._online.get((topic, index)) or self._table.get(topic, index)
                if not (internal_topics_allowed or is_open_to_clients(topic)):
                    raise InvalidTopicError(f"Cannot append to internal topic {topic}")
                info = partition.append(records, acks=acks, now_ms=now_ms, options=options)
            except ApiError as error:
                results.append(self._refused(topic, index, error))
                continue
            # As in Log.append_as_leader: half the cost of the constructor.
            answer = (
                topic,
                index,
                0,
                info.first_offset,
                info.log_append_time,
                info.log_start_offset,
                None,
                _NO_ERRORS,
                info.last_offset,
                info.size_bytes,
            )
            results.append(tuple.__new__(AppendResult, answer))
            written.append(partition)
            log = partition.log
            config = log.config
            # A backlog concerns acks=0, too: the high watermark has to follow what a thread writes.
            if (acks == ALL_IN_SYNC and log.high_watermark <= info.last_offset) or (
                config.flush_on_ack or config.flush_messages != LONG_MAX or log.backlog is not None
            ):
                waits = True
        if waits:
            self._wait(results, written, acks, timeout_ms, done)
        else:
            done(results)
        for partition in written:
            if partition in self._fetches:
                self._waiting.fetches.check(partition)
            if partition in self._produces:
                self._waiting.produces.check(partition)

    def append_alone(
        self, topic: str, index: int, records: bytearray | memoryview, acks: int
    ) -> AppendInfo | AppendResult | None:
        """Appends one batch to a partition where nothing has to be waited for: nearly all on a single node.

        The refusal if there is one; None, with nothing done, if something has to be waited for: call `append` then.
        The caller knows that the topic may be written to.
        """
        partition = self._online.get((topic, index))
        if partition is None:
            return None
        leadership, log = partition.leadership, partition.log
        config = log.config
        if leadership is None or leadership.followers or config.flush_on_ack or config.flush_messages != LONG_MAX:
            return None
        now_ms = self._clock.now_ms()
        try:
            info = log.append_committed(records, partition.leader_epoch, now_ms)
            if info is None:
                if log.must_defer:
                    return None
                info = partition.append(records, acks=acks, now_ms=now_ms)
        except ApiError as error:
            return self._refused(topic, index, error)
        if partition in self._fetches:
            self._waiting.fetches.check(partition)
        return info

    def _wait(
        self, results: list[AppendResult], written: list[Partition], acks: int, timeout_ms: int, done: AppendDone
    ) -> None:
        pending = PendingAppend(self._table, results, done)
        places = [place for place, result in enumerate(results) if result.error_code == ErrorCode.NONE]
        for place, partition in zip(places, written, strict=True):
            end_offset = results[place].last_offset + 1
            if acks == ALL_IN_SYNC:
                pending.replicate(partition, place, end_offset)
            on_disk = partial(pending.on_disk, place) if acks else _nobody_waits
            if partition.log.backlog is not None:
                # The thread may have written it by now; the high watermark does not know it yet.
                pending.wait_for_disk()
                partition.log.when_written(end_offset, partial(self._written, partition, end_offset, on_disk))
            elif self._flush(partition, end_offset, on_disk):
                pending.wait_for_disk()
        if acks:
            pending.wait(self._waiting.produces, timeout_ms)
        else:
            done(results)

    def _written(
        self, partition: Partition, end_offset: int, on_disk: Callable[[int], None], error: StorageError | None
    ) -> None:
        """A thread has written what was placed before, or never will."""
        if error is not None:
            self._failed(error)
            on_disk(error.code)
            return
        if not self._table.is_here(partition):
            on_disk(self._table.absence(partition.topic, partition.index).code)
            return
        partition.advance()
        if not self._flush(partition, end_offset, on_disk):
            on_disk(ErrorCode.NONE)
        self._waiting.check(partition)

    def _flush(self, partition: Partition, end_offset: int, flushed: Callable[[int], None]) -> bool:
        """Whether a flush has to be waited for, which calls `flushed`."""
        try:
            return self._flush_wait.begin(partition, end_offset, flushed)
        except StorageError as error:
            self._failed(error)
            flushed(error.code)
            return True

    def _refused(self, topic: str, index: int, error: ApiError) -> AppendResult:
        """Kafka explains a refusal in words only if single records are to blame."""
        if isinstance(error, StorageError) and not isinstance(error, BusyDiskError):
            self._failed(error)
        log_start_offset, message = -1, None
        record_errors = _NO_ERRORS
        if not isinstance(error, _BEFORE_THE_LOG):
            log_start_offset = self._online[(topic, index)].log.log_start_offset
        if isinstance(error, (InvalidRecordsError, InvalidTimestampsError)):
            message, record_errors = error.message, error.record_errors
        return AppendResult(
            topic,
            index,
            error.code,
            log_start_offset=log_start_offset,
            error_message=message,
            record_errors=record_errors,
        )


def _nobody_waits(code: int) -> None:
    """With acks=0 the producer never hears of it."""
