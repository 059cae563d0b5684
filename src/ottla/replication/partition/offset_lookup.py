"""Offsets by time, for ListOffsets.

After an election the high watermark may be behind where the new epoch began; until it has caught up, what a client
would take as the end could fall behind what it saw before, so it is told to ask again (OFFSET_NOT_AVAILABLE).
"""

from ottla.protocol.errors import OffsetNotAvailableError
from ottla.replication.partition.partition import Partition
from ottla.replication.request.fetch import READ_COMMITTED
from ottla.replication.request.offset_query import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    OffsetAnswer,
    OffsetQuery,
)

_NOTHING = OffsetAnswer()


def offset_for_timestamp(partition: Partition, query: OffsetQuery) -> OffsetAnswer:
    """The query's part for the partition."""
    partition.check_role(query.current_leader_epoch, leader_only=query.leader_only)
    log, timestamp = partition.log, query.timestamp
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epochs.epoch_for(log.log_start_offset)
        return OffsetAnswer(-1, log.log_start_offset, -1 if epoch is None else epoch)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return _NOTHING
    end_offset = _end_offset(partition, query)
    if timestamp == LATEST:
        _check_available(partition, query)
        return OffsetAnswer(-1, end_offset, partition.leader_epoch)
    found = log.offset_of_max_timestamp() if timestamp == MAX_TIMESTAMP else log.offset_for_timestamp(timestamp)
    if found is None or found.offset >= end_offset:
        _check_available(partition, query)
        return _NOTHING
    return OffsetAnswer(found.timestamp, found.offset, -1 if found.leader_epoch is None else found.leader_epoch)


def _end_offset(partition: Partition, query: OffsetQuery) -> int:
    log = partition.log
    if query.isolation_level is None:
        return log.log_end_offset
    return log.last_stable_offset if query.isolation_level == READ_COMMITTED else log.high_watermark


def _check_available(partition: Partition, query: OffsetQuery) -> None:
    leadership = partition.leadership
    if query.isolation_level is None or leadership is None:
        return
    if leadership.epoch_start_offset > partition.log.high_watermark:
        raise OffsetNotAvailableError(
            f"the high watermark {partition.log.high_watermark} of partition {partition.topic}-{partition.index} is "
            f"behind the start {leadership.epoch_start_offset} of the leader epoch"
        )
