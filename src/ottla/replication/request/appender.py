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
from ottla.replication.internal_topic import INTERNAL_TOPICS
from ottla.replication.partition.partition import ALL_IN_SYNC, Partition
from ottla.replication.partition_table import PartitionTable
from ottla.replication.request.flush_wait import FlushWait
from ottla.replication.request.pending_append import PendingAppend
from ottla.replication.request.produce import AppendDone, AppendEntry, AppendResult
from ottla.replication.schedule.waiting import Waiting
from ottla.storage.errors import StorageError
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
            done([AppendResult(entry[0], entry[1], ErrorCode.INVALID_REQUIRED_ACKS) for entry in entries])
            return
        now_ms = self._clock.now_ms()
        results: list[AppendResult] = []
        written: list[Partition] = []
        waits = False
        for topic, index, records, options in entries:
            try:
                partition = self._online.get((topic, index)) or self._table.get(topic, index)
                if topic in INTERNAL_TOPICS and not internal_topics_allowed:
                    raise InvalidTopicError(f"Cannot append to internal topic {topic}")
                info = partition.append(records, acks=acks, now_ms=now_ms, options=options)
            except ApiError as error:
                results.append(self._refused(topic, index, error))
                continue
            # As in Log.append_as_leader: half the cost of the constructor.
            answer = (topic, index, 0, info[0], info[3], info[4], None, _NO_ERRORS, info[1], info[5])
            results.append(tuple.__new__(AppendResult, answer))
            written.append(partition)
            log = partition.log
            config = log.config
            if (acks == ALL_IN_SYNC and log.high_watermark <= info[1]) or (
                config.flush_on_ack or config.flush_messages != LONG_MAX
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
        """One client's batch for a partition whose only replica is here and that waits for no disk: nearly all on a
        single node. The refusal if there is one; None, with nothing done, if it is not so: `append` knows what to do.
        """
        if topic in INTERNAL_TOPICS:
            return None
        partition = self._online.get((topic, index))
        if partition is None:
            return None
        leadership, config = partition.leadership, partition.log.config
        if leadership is None or leadership.followers or config.flush_on_ack or config.flush_messages != LONG_MAX:
            return None
        now_ms = self._clock.now_ms()
        try:
            info = partition.log.append_committed(records, partition.leader_epoch, now_ms) or partition.append(
                records, acks=acks, now_ms=now_ms
            )
        except ApiError as error:
            return self._refused(topic, index, error)
        if partition in self._fetches:
            self._waiting.fetches.check(partition)
        return info

    def append_own_alone(
        self, place: tuple[str, int], pairs: list[tuple[bytes, bytes | None]], timestamp_ms: int
    ) -> int | AppendResult | None:
        """The same for a coordinator's records, with acks -1; where the log ends then, which is committed."""
        partition = self._online.get(place)
        if partition is None:
            return None
        try:
            end_offset = partition.append_alone(pairs, timestamp_ms, self._clock.now_ms())
        except ApiError as error:
            return self._refused(*place, error)
        if end_offset is not None and partition in self._fetches:
            self._waiting.fetches.check(partition)
        return end_offset

    def _wait(
        self, results: list[AppendResult], written: list[Partition], acks: int, timeout_ms: int, done: AppendDone
    ) -> None:
        pending = PendingAppend(self._table, results, done)
        places = [place for place, result in enumerate(results) if result.error_code == ErrorCode.NONE]
        for place, partition in zip(places, written, strict=True):
            end_offset = results[place].last_offset + 1
            if acks == ALL_IN_SYNC:
                pending.replicate(partition, place, end_offset)
            flushed = partial(pending.flushed, place) if acks else _nobody_waits
            try:
                if self._flush_wait.begin(partition, end_offset, flushed):
                    pending.flush()
            except StorageError as error:
                results[place] = self._refused(partition.topic, partition.index, error)
        if acks:
            pending.wait(self._waiting.produces, timeout_ms)
        else:
            done(results)

    def _refused(self, topic: str, index: int, error: ApiError) -> AppendResult:
        """Kafka explains a refusal in words only if single records are to blame."""
        if isinstance(error, StorageError):
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
