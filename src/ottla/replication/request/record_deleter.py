"""DeleteRecords: moves log starts up on the leader, and waits until all replicas that live, or may lead, have followed.

An answer leaves once the new log starts are on the disk. Apache Kafka writes them once a minute, so that records whose
deletion it has confirmed are back after a crash.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ottla.protocol.errors import ApiError, ErrorCode, InvalidTopicError
from ottla.replication.internal_topic import INTERNAL_TOPICS
from ottla.replication.partition.partition import Partition
from ottla.replication.partition_table import PartitionTable
from ottla.replication.request.delete_records import DeleteRecordsDone, DeleteRecordsEntry, DeleteRecordsResult
from ottla.replication.schedule.waiting import Waiting
from ottla.storage.errors import StorageError


class PendingDeletion:
    """The answers so far, and the partitions whose replicas are not all there yet."""

    __slots__ = ("_done", "_open", "_results", "_table")

    def __init__(self, table: PartitionTable, results: list[DeleteRecordsResult], done: DeleteRecordsDone) -> None:
        self._table = table
        self._results = results
        self._done = done
        self._open: dict[Partition, tuple[int, int]] = {}

    def add(self, partition: Partition, place: int, offset: int) -> None:
        """A partition waits until all start at the offset or later."""
        self._open[partition] = (place, offset)

    @property
    def open(self) -> tuple[Partition, ...]:
        """The partitions that wait."""
        return tuple(self._open)

    def is_ready(self, key: Partition) -> bool:
        """Whether `key` was the last to wait for."""
        waiting = self._open.get(key)
        if waiting is not None:
            _, offset = waiting
            try:
                if not self._table.is_here(key):
                    raise self._table.absence(key.topic, key.index)
                low_watermark = key.low_watermark()
            except ApiError as error:
                self._settle(key, DeleteRecordsResult(key.topic, key.index, error.code))
            else:
                if low_watermark >= offset:
                    self._settle(key, DeleteRecordsResult(key.topic, key.index, ErrorCode.NONE, low_watermark))
        return not self._open

    def _settle(self, partition: Partition, result: DeleteRecordsResult) -> None:
        place, _ = self._open.pop(partition)
        self._results[place] = result

    def complete(self) -> None:
        """Answers."""
        self._done(self._results)

    def expired(self) -> None:
        """Answers the waiting partitions with a time-out and their low watermark."""
        for place, _ in self._open.values():
            self._results[place] = self._results[place]._replace(error_code=ErrorCode.REQUEST_TIMED_OUT)
        self._done(self._results)


class RecordDeleter:
    """Serves `ReplicaManager.delete_records`. `failed` hears of every I/O error.

    `checkpoint` writes all log starts down on another thread, and calls back on the loop.
    """

    def __init__(
        self,
        table: PartitionTable,
        waiting: Waiting,
        failed: Callable[[StorageError], None],
        checkpoint: Callable[[Callable[[], None]], None],
    ) -> None:
        self._table: Final = table
        self._waiting: Final = waiting
        self._failed: Final = failed
        self._checkpoint: Final = checkpoint

    def delete(self, entries: Sequence[DeleteRecordsEntry], *, timeout_ms: int, done: DeleteRecordsDone) -> None:
        """See `ReplicaManager.delete_records`."""
        results: list[DeleteRecordsResult] = []

        def answer(settled: Sequence[DeleteRecordsResult]) -> None:
            self._checkpoint(partial(done, settled))

        pending = PendingDeletion(self._table, results, answer)
        for entry in {entry[:2]: entry for entry in entries}.values():
            try:
                partition, offset = self._delete(entry)
                low_watermark = partition.low_watermark()
            except ApiError as error:
                if isinstance(error, StorageError):
                    self._failed(error)
                results.append(DeleteRecordsResult(entry.topic, entry.partition, error.code))
                continue
            if low_watermark < offset:
                pending.add(partition, len(results), offset)
            results.append(DeleteRecordsResult(entry.topic, entry.partition, ErrorCode.NONE, low_watermark))
        if pending.open:
            self._waiting.deletions.watch(pending, pending.open, timeout_ms)
        elif any(result.error_code is ErrorCode.NONE for result in results):
            answer(results)
        else:
            done(results)

    def _delete(self, entry: DeleteRecordsEntry) -> tuple[Partition, int]:
        if entry.topic in INTERNAL_TOPICS:
            raise InvalidTopicError(f"Cannot delete records of internal topic {entry.topic}")
        partition = self._table.get(entry.topic, entry.partition)
        return partition, partition.delete_records_before(entry.offset)
