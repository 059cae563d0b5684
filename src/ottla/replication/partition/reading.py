"""Reading one partition for a fetch: who may read, from where, how far, and how much.

Followers read up to the log end, consumers up to the high watermark, or the last stable offset if they want committed
records only. Refusals are values, as every partition of a fetch gets an answer; only a failing disk raises.
"""

from collections.abc import Sequence
from typing import Final

from ottla.protocol.errors import ErrorCode
from ottla.replication.partition.partition import Partition
from ottla.replication.partition.replica_log import ReplicaLog
from ottla.replication.request.fetch import READ_COMMITTED, FetchParams, FetchPartition, FetchResult
from ottla.storage.index.transaction_index import AbortedTransaction
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.segment.slice import FileSlice

_NONE_ABORTED: Final[Sequence[AbortedTransaction]] = ()
_FENCED: Final = FetchResult(ErrorCode.FENCED_LEADER_EPOCH)
_UNKNOWN_EPOCH: Final = FetchResult(ErrorCode.UNKNOWN_LEADER_EPOCH)
_NOT_LEADER: Final = FetchResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)
_OFFLINE: Final = FetchResult(ErrorCode.KAFKA_STORAGE_ERROR)
_OUT_OF_RANGE: Final = FetchResult(ErrorCode.OFFSET_OUT_OF_RANGE)
_NEGATIVE_SIZE: Final = FetchResult(ErrorCode.UNKNOWN_SERVER_ERROR)


def read(
    partition: Partition,
    params: FetchParams,
    wanted: FetchPartition,
    bytes_max: int,
    *,
    whole_batch: bool,
    may_wait: bool = True,
) -> FetchResult:
    """Reads at most `bytes_max`; with `whole_batch` at least one batch if there is any, however large.

    A caller that may not wait for a disk gets `ColdReadError` where it would have to.
    """
    log, offset, replica_id = partition.log, wanted.fetch_offset, params.replica_id
    # What nearly every consumer's fetch passes without a look at the details.
    if (
        partition.leadership is None
        or replica_id >= 0
        or (wanted.current_leader_epoch >= 0 and wanted.current_leader_epoch != partition.leader_epoch)
        or wanted.last_fetched_epoch >= 0
        or log.offline_error is not None
    ):
        refusal = refuse(partition, params, wanted)
        if refusal is not None:
            return refusal
    high_watermark, start_offset, log_end_offset = log.high_watermark, log.log_start_offset, log.log_end_offset
    if offset < start_offset or offset > log_end_offset:
        return _OUT_OF_RANGE
    stable_offset = log.last_stable_offset
    end_offset = high_watermark
    aborted: Sequence[AbortedTransaction] | None = None
    if replica_id >= 0:
        end_offset = log_end_offset
    elif params.isolation_level == READ_COMMITTED:
        end_offset, aborted = stable_offset, _NONE_ABORTED
    records: FileSlice | None = None
    if offset < end_offset:
        if bytes_max < 0:
            return _NEGATIVE_SIZE
        if whole_batch or bytes_max > 0:
            found = log.read(offset, bytes_max, end_offset, may_wait=may_wait)
            records = found.records
            if records is not None:
                if not whole_batch and records.length > bytes_max:
                    records = None  # Not even the first batch fits.
                elif aborted is not None:
                    aborted = log.aborted_in(found, offset, end_offset)
    # Half the cost of the constructor; an idle fetch makes one for each of a thousand partitions.
    answer = (ErrorCode.NONE, records, high_watermark, stable_offset, start_offset, aborted, None, -1)
    return tuple.__new__(FetchResult, answer)


def refer(partition: Partition, params: FetchParams, wanted: FetchPartition, replica_id: int) -> FetchResult:
    """The answer that sends a consumer to another replica: where the log begins and ends, and no records."""
    refusal = refuse(partition, params, wanted)
    if refusal is not None:
        return refusal
    log = partition.log
    return FetchResult(
        ErrorCode.NONE,
        None,
        log.high_watermark,
        log.last_stable_offset,
        log.log_start_offset,
        preferred_read_replica=replica_id,
    )


def refuse(partition: Partition, params: FetchParams, wanted: FetchPartition) -> FetchResult | None:
    """The answer to a fetch that reads nothing here: wrong epoch, wrong broker, or a log that has diverged."""
    epoch = wanted.current_leader_epoch
    # A negative epoch is none: Fetch never minded which negative number.
    if epoch >= 0 and epoch != partition.leader_epoch:
        return _FENCED if epoch < partition.leader_epoch else _UNKNOWN_EPOCH
    if params.client is None or params.replica_id >= 0:
        leadership = partition.leadership
        if leadership is None:
            return _NOT_LEADER
        if params.replica_id >= 0 and params.replica_id not in leadership.followers:
            # A replica that the metadata does not show yet: with an epoch, one of us is behind.
            return _UNKNOWN_EPOCH if epoch >= 0 else _NOT_LEADER
    if partition.log.offline_error is not None:
        return _OFFLINE
    if wanted.last_fetched_epoch >= 0:
        return _diverging(partition.log, wanted)
    return None


def _diverging(log: ReplicaLog, wanted: FetchPartition) -> FetchResult | None:
    """Tells a reader whose last records are of another history where the common one ends (KIP-595).

    Epochs here: 0 from 0, 2 from 50, log end 80. Last fetched epoch 1 at 60: epoch 1 is unknown, the largest below
    it is 0 and ends at 50, so (0, 50). Last fetched epoch 0 at 60: it ends at 50, so (0, 50) as well.
    """
    offset, epoch = wanted.fetch_offset, wanted.last_fetched_epoch
    end = log.end_offset_for_epoch(epoch)
    if end.epoch < 0 or end.start_offset < 0 or offset < log.log_start_offset:
        return _OUT_OF_RANGE
    if end.epoch < epoch or end.start_offset < offset:
        return FetchResult(
            ErrorCode.NONE,
            None,
            log.high_watermark,
            log.last_stable_offset,
            log.log_start_offset,
            diverging_epoch=EpochEntry(end.epoch, end.start_offset),
        )
    return None
