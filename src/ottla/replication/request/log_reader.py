"""Reads several partitions for one fetch, within the limits of the request.

The first partition that has anything gives at least one batch, however large, so that every reader gets on (KIP-74);
all others keep to what is left of the limits. Limit 100, batches of 150, 60, 60: the answer has 150 and nothing else.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ottla.base.ids import ZERO_UUID
from ottla.protocol.errors import ErrorCode
from ottla.replication.follower.throttle import Throttle
from ottla.replication.partition.partition import Partition
from ottla.replication.partition.reading import read, refer
from ottla.replication.partition_table import PartitionTable
from ottla.replication.request.cold_read import ColdReads
from ottla.replication.request.fetch import READ_COMMITTED, FetchParams, FetchPartition, FetchResult
from ottla.replication.request.follower_fetch import FollowerFetches
from ottla.replication.request.replica_selector import THE_LEADER, RackAwareSelector
from ottla.storage.errors import ColdReadError, CorruptFileError, StorageError
from ottla.storage.index.transaction_index import AbortedTransaction

_INCONSISTENT_TOPIC_ID: Final = FetchResult(ErrorCode.INCONSISTENT_TOPIC_ID)
_NOT_LEADER: Final = FetchResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)
_DAMAGED: Final = FetchResult(ErrorCode.CORRUPT_MESSAGE)
_OFFLINE: Final = FetchResult(ErrorCode.KAFKA_STORAGE_ERROR)
_NONE_ABORTED: Final[Sequence[AbortedTransaction]] = ()


class Read(NamedTuple):
    """The data that was read, and whether it has to be answered at once."""

    results: list[FetchResult]
    size_bytes: int
    is_final: bool
    """Whether there is an error, or news that is not records: there is no use in waiting for more."""
    is_cold: bool
    """Whether a thread is reading something that is missing here."""


class LogReader:
    """Serves fetches. `failed` is called with every I/O error; without a selector all clients read from leaders."""

    def __init__(
        self,
        table: PartitionTable,
        followers: FollowerFetches,
        failed: Callable[[StorageError], None],
        throttle: Throttle,
        cold: ColdReads,
        selector: RackAwareSelector | None = None,
    ) -> None:
        self._table: Final = table
        self._followers: Final = followers
        self._failed: Final = failed
        self._throttle: Final = throttle
        self._cold: Final = cold
        self._selector: Final = selector

    def read(self, params: FetchParams, wanted: Sequence[FetchPartition], *, is_first: bool) -> Read:
        """Reads each partition. The first time, a follower's fetch also tells how far it got."""
        online = self._table.online
        results: list[FetchResult] = []
        is_cold = False
        limit, total, is_final, whole_batch = params.max_bytes, 0, False, True
        progressed: list[tuple[int, Partition]] = []
        is_throttled = params.replica_id >= 0 and self._throttle.is_exceeded
        selector = None if params.client is None or not params.client.rack_id else self._selector
        for want in wanted:
            partition = online.get((want.topic, want.partition))
            if partition is None:
                result = FetchResult(self._table.absence(want.topic, want.partition).code)
            elif want.topic_id != partition.topic_id and want.topic_id != ZERO_UUID:
                result = _INCONSISTENT_TOPIC_ID
            elif selector is not None and (referral := _referral(selector, partition, params, want)) is not None:
                result = referral
            else:
                size_max, at_least_one = min(limit, want.max_bytes), whole_batch
                if is_throttled and self._waits(partition, params):
                    size_max, at_least_one = 0, False
                try:
                    result = read(partition, params, want, size_max, whole_batch=at_least_one, may_wait=False)
                except ColdReadError:
                    result = self._read_cold(partition, params, want, size_max, whole_batch=at_least_one)
                    is_cold = is_cold or result.records is None
                except StorageError as error:
                    self._failed(error)
                    # Clients retry a storage error; a damage that stays must reach the application.
                    result = _DAMAGED if isinstance(error, CorruptFileError) else _OFFLINE
                records = result.records
                if records is not None:
                    whole_batch = False
                    total += records.length
                    limit -= records.length
                if limit < 0:
                    limit = 0
            if result.error_code or result.diverging_epoch is not None or result.preferred_read_replica != THE_LEADER:
                is_final = True
            elif is_first and params.replica_id >= 0 and partition is not None:
                progressed.append((len(results), partition))
            results.append(result)
        for place, partition in progressed:
            if not self._followers.note(partition, params, wanted[place]):
                results[place] = _NOT_LEADER
                is_final = True
        return tuple.__new__(Read, (results, total, is_final, is_cold))

    def available(self, partition: Partition, params: FetchParams, want: FetchPartition) -> int:
        """The bytes that a fetch of this partition alone would get now; raises its `StorageError`."""
        try:
            records = read(partition, params, want, want.max_bytes, whole_batch=True, may_wait=False).records
        except ColdReadError:
            records = self._read_cold(partition, params, want, want.max_bytes, whole_batch=True).records
        return 0 if records is None else len(records)

    def _read_cold(
        self, partition: Partition, params: FetchParams, want: FetchPartition, bytes_max: int, *, whole_batch: bool
    ) -> FetchResult:
        """Data that a thread has brought into memory; empty while the thread is under way."""
        if self._cold.is_warm(partition, want.fetch_offset):
            try:
                return read(partition, params, want, bytes_max, whole_batch=whole_batch)
            except StorageError as error:
                self._failed(error)
                return _DAMAGED if isinstance(error, CorruptFileError) else _OFFLINE
        self._cold.begin(partition, params, want, bytes_max)
        log = partition.log
        return FetchResult(
            ErrorCode.NONE,
            None,
            log.high_watermark,
            log.last_stable_offset,
            log.log_start_offset,
            _NONE_ABORTED if params.replica_id < 0 and params.isolation_level == READ_COMMITTED else None,
        )

    def is_being_read(self, partition: Partition, offset: int) -> bool:
        """Whether a thread is bringing into memory what is there."""
        return self._cold.is_under_way(partition, offset)

    def is_held_up(self, partition: Partition, params: FetchParams) -> bool:
        """Whether a follower gets nothing of the partition for now, however much there is."""
        return params.replica_id >= 0 and self._throttle.is_exceeded and self._waits(partition, params)

    def _waits(self, partition: Partition, params: FetchParams) -> bool:
        leadership = partition.leadership
        is_in_sync = leadership is not None and params.replica_id in leadership.isr.members
        return not is_in_sync and self._throttle.names(partition)

    def answered(self, params: FetchParams, wanted: Sequence[FetchPartition], results: Sequence[FetchResult]) -> None:
        """These results leave: what followers get counts for the throttle."""
        if params.replica_id < 0:
            return
        for want, result in zip(wanted, results, strict=True):
            if result.records is not None:
                partition = self._table.online.get((want.topic, want.partition))
                if partition is not None:
                    self._throttle.record(partition, result.records.length)


def _referral(
    selector: RackAwareSelector, partition: Partition, params: FetchParams, want: FetchPartition
) -> FetchResult | None:
    """The answer that sends the consumer to a nearer replica, if there is one."""
    if params.client is None:
        return None
    replica_id = selector.select(partition, params.client, want.fetch_offset)
    return None if replica_id == THE_LEADER else refer(partition, params, want, replica_id)
