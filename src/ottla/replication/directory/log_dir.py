"""The content of a broker's log directories (DescribeLogDirs)."""

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode
from ottla.replication.partition_table import PartitionTable
from ottla.storage.log.log import Log
from ottla.storage.log_directory import LogDirectory
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition

_UNKNOWN = -1


class ReplicaInDirectory(NamedTuple):
    """A log, or a copy of one that is being made."""

    partition: TopicPartition
    size_bytes: int
    offset_lag: int
    """How far the log's end is behind the high watermark, or the copy's behind the log's; -1 if that is not known."""
    is_future: bool


class LogDirDescription(NamedTuple):
    """A log directory with the logs that were asked for; sizes of the volume are -1 if they are not known."""

    error_code: int
    path: str
    replicas: Iterable[ReplicaInDirectory]
    """To be gone through once: each is looked at when its turn comes."""
    total_bytes: int
    usable_bytes: int
    is_cordoned: bool


def describe_log_dirs(
    logs: LogManager,
    table: PartitionTable,
    partitions: Collection[TopicPartition] | None,
    cordoned: frozenset[str],
) -> list[LogDirDescription]:
    """See `ReplicaManager.describe_log_dirs`."""
    described = []
    for home in logs.directories.all():
        is_cordoned = home.path in cordoned or "*" in cordoned
        if home.is_online:
            total, usable = _volume(home.path)
            found = _replicas(home, table, partitions)
            described.append(LogDirDescription(ErrorCode.NONE, home.path, found, total, usable, is_cordoned))
        else:
            offline = ErrorCode.KAFKA_STORAGE_ERROR
            described.append(LogDirDescription(offline, home.path, (), _UNKNOWN, _UNKNOWN, is_cordoned=False))
    return described


def _replicas(
    home: LogDirectory, table: PartitionTable, partitions: Collection[TopicPartition] | None
) -> Iterator[ReplicaInDirectory]:
    # What is there now counts: a copy that takes its log's place meanwhile is neither missing nor there twice.
    logs = ((home.logs.items(), False), (home.future_logs.items(), True))
    return (
        ReplicaInDirectory(name, log.size_bytes, _lag(table, name, log, is_future=is_future), is_future)
        for found, is_future in logs
        for name, log in found
        if partitions is None or name in partitions
    )


def _lag(table: PartitionTable, name: TopicPartition, log: Log, *, is_future: bool) -> int:
    partition = table.online.get(name)
    if partition is None:
        return _UNKNOWN
    if is_future:
        return partition.log.log_end_offset - log.log_end_offset
    return max(log.high_watermark - log.log_end_offset, 0)


def _volume(path: str) -> tuple[int, int]:
    try:
        status = os.statvfs(path)
    except OSError:
        return _UNKNOWN, _UNKNOWN
    return status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize
