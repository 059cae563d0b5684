"""Moves logs between the directories of a broker (KIP-113): a copy is made beside the log, and takes its place.

A worker thread copies what is replicated, a stretch at a time; between two stretches the loop looks whether the copy
is still wanted. When little is missing the loop copies the rest itself and swaps, so that no append comes in between.
What was on the disk is on the disk after the swap, too: a move must not put at risk what was safe.

Log 0..1000, high watermark 990: the worker copies up to 990 and flushes, the loop copies 990..1000 and swaps. If the
log was flushed up to 1000 meanwhile, or somebody waits for that (`flush.on.ack`), the loop flushes those ten as well.
"""

import logging
import os
from contextlib import ExitStack
from typing import Final

from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    InvalidReplicaAssignmentError,
    KafkaStorageError,
    LogDirNotFoundError,
    NotLeaderOrFollowerError,
    OffsetOutOfRangeError,
    UnknownServerError,
)
from ottla.protocol.records.batch import Batch
from ottla.replication.log_preparation import LogPreparation
from ottla.replication.partition.partition import Partition
from ottla.replication.ports import Worker
from ottla.replication.replica_parts import ReplicaParts
from ottla.storage.errors import StorageError, UnexpectedOffsetError
from ottla.storage.log.log import Log
from ottla.storage.log_config_keys import LONG_MAX
from ottla.storage.log_manager_options import fresh_id
from ottla.storage.topic_partition import DirectoryKind, TopicPartition, directory_name

_log = logging.getLogger(__name__)
_STRETCH_BYTES: Final = 4 << 20
_REST_BYTES: Final = 1 << 20
"""What may be left for the loop to copy."""


class Move:
    """A partition on its way to another directory."""

    __slots__ = ("is_copying", "is_over", "log", "name", "partition", "pause", "target")

    def __init__(self, partition: Partition, log: Log, target: Log, pause: ExitStack) -> None:
        self.partition = partition
        self.name = TopicPartition(partition.topic, partition.index)
        self.log = log
        self.target = target
        self.pause = pause
        """Keeps the cleaner away: what it did to the log would not be done to the copy."""
        self.is_copying = False
        self.is_over = False

    @property
    def directory(self) -> str:
        """Where it goes."""
        return os.path.dirname(self.target.directory)

    @property
    def is_less_safe(self) -> bool:
        """Whether something is only in memory that is on the disk in the log, or that somebody waits for to be."""
        config = self.log.config
        waits_for_disk = config.flush_on_ack or config.flush_messages != LONG_MAX
        return waits_for_disk or self.target.recovery_point < self.log.recovery_point

    def copy(self, bytes_max: int, end_offset: int, now_ms: int) -> None:
        """Copies some of what lies below an offset. On one thread at a time."""
        log, target = self.log, self.target
        if target.log_end_offset >= end_offset:
            return
        try:
            found = log.read(target.log_end_offset, bytes_max, end_offset).records
        except OffsetOutOfRangeError:
            # Nothing was copied yet, or retention was faster: the copy begins where the log does.
            target.truncate_fully_and_start_at(log.log_start_offset)
            return
        if found is None:
            return
        records = found.read()
        first_offset = Batch(records).base_offset
        if first_offset < target.log_end_offset:
            # The log begins in the middle of a batch, and batches are copied whole.
            target.truncate_fully_and_start_at(first_offset)
        target.append_as_follower(records, self.partition.leader_epoch, now_ms)

    def finish(self) -> None:
        """Gives the copy what is not in the records: epochs without any, and where the log begins."""
        log, target = self.log, self.target
        for entry in log.epochs.entries:
            target.epochs.note(entry.epoch, entry.start_offset)
        target.epochs.flush()
        target.update_high_watermark(log.high_watermark)
        target.increment_log_start_offset(log.log_start_offset)


class LogMover:
    """All moves of a broker. Loop thread only, but for the copying."""

    def __init__(self, parts: ReplicaParts, preparation: LogPreparation, worker: Worker) -> None:
        self._parts: Final = parts
        self._logs: Final = parts.logs
        self._preparation: Final = preparation
        self._worker: Final = worker
        self._moves: dict[Partition, Move] = {}
        self._is_closed = False

    def close(self) -> None:
        """Copies nothing more; the next start goes on from what there is."""
        self._is_closed = True

    def __len__(self) -> int:
        return len(self._moves)

    def begin(self, name: TopicPartition, path: str, cordoned: frozenset[str]) -> int:
        """Begins to move a replica, or notes where it is to be made when it comes to this broker; an error code."""
        try:
            self._begin(name, path, cordoned)
        except NotLeaderOrFollowerError:
            # What clients of this API always were told of a replica that is not here.
            self._preparation.preferred[name] = path
            return ErrorCode.REPLICA_NOT_AVAILABLE
        except ApiError as error:
            _log.warning("[%s] cannot be moved to %s: %s", name, path, error)
            self._parts.directory_watch.check()
            return error.code
        return ErrorCode.NONE

    def _begin(self, name: TopicPartition, path: str, cordoned: frozenset[str]) -> None:
        directories = self._logs.directories
        if path not in {home.path for home in directories.all()}:
            raise LogDirNotFoundError(f"Log dir {path} is not found in the config.")
        if path in {home.path for home in directories.offline()}:
            raise KafkaStorageError(f"Log directory {path} is offline")
        if path in cordoned or "*" in cordoned:
            raise InvalidReplicaAssignmentError(f"Log directory {path} is cordoned")
        partition = self._parts.table.get(*name)
        move = self._moves.get(partition)
        if move is not None:
            if move.directory == path:
                return
            self.cancel(partition)
        home = directories.home_of(name)
        if home is None or home.path != path:
            directories.check_all_online(name)
            self._start(partition, self._logs.create_future(name, path))

    def resume(self, partition: Partition) -> None:
        """Goes on with a move that a restart interrupted."""
        target = self._logs.get_future(TopicPartition(partition.topic, partition.index))
        if target is not None and partition not in self._moves:
            self._start(partition, target)

    def cancel(self, partition: Partition) -> None:
        """Drops a copy, if one is being made."""
        move = self._moves.pop(partition, None)
        if move is None:
            return
        move.is_over = True
        move.pause.close()
        partition.future_log = None
        home = self._logs.directories.future_home_of(move.name)
        if home is not None:
            del home.future_logs[move.name]
        if not move.is_copying:
            self._drop(move)

    def truncated(self, partition: Partition) -> None:
        """The log was cut, perhaps below what was copied: the copy is made anew."""
        move = self._moves.get(partition)
        if move is not None and move.target.log_end_offset > partition.log.log_end_offset:
            self.cancel(partition)
            self._start(partition, self._logs.create_future(move.name, move.directory))

    # Copying

    def _start(self, partition: Partition, target: Log) -> None:
        name = TopicPartition(partition.topic, partition.index)
        log = self._logs.get(name)
        if log is None:
            return
        pause = ExitStack()
        pause.enter_context(self._logs.cleaning.paused(name))
        move = self._moves[partition] = Move(partition, log, target, pause)
        partition.future_log = target
        _log.info("[%s] moving from %s to %s", name, os.path.dirname(log.directory), move.directory)
        self._copy_on(move)

    def _copy_on(self, move: Move) -> None:
        move.is_copying = True
        end_offset, now_ms = move.log.high_watermark, self._parts.clock.now_ms()

        def job() -> None:
            problem: ApiError | None = None
            try:
                move.copy(_STRETCH_BYTES, end_offset, now_ms)
                if move.target.log_end_offset >= end_offset:
                    move.target.flush(now_ms)
            except (ApiError, UnexpectedOffsetError) as error:
                problem = error if isinstance(error, ApiError) else UnknownServerError(str(error))
            self._parts.mailbox.post(lambda: self._copied(move, end_offset, problem))

        self._worker.submit(job)

    def _copied(self, move: Move, end_offset: int, problem: ApiError | None) -> None:
        move.is_copying = False
        if self._is_closed:
            return
        if move.is_over:
            self._drop(move)
        elif problem is not None or not self._parts.table.is_here(move.partition):
            self._give_up(move, problem)
        elif move.target.log_end_offset < end_offset or not self._swap(move):
            self._copy_on(move)

    def _swap(self, move: Move) -> bool:
        """Copies the rest and puts the copy in the log's place, unless the rest is too much for the loop."""
        partition, log, now_ms = move.partition, move.log, self._parts.clock.now_ms()
        try:
            move.copy(_REST_BYTES, log.log_end_offset, now_ms)
            if move.target.log_end_offset != log.log_end_offset:
                return False
            if move.is_less_safe:
                move.target.flush(now_ms)
            move.finish()
            partition.log = self._logs.replace_with_future(move.name)
        except (ApiError, UnexpectedOffsetError) as error:
            self._give_up(move, error)
            return True
        del self._moves[partition]
        move.is_over = True
        move.pause.close()
        partition.future_log = None
        home = self._logs.directories.home_of(move.name)
        _log.info("[%s] moved to %s", move.name, partition.log.directory)
        if home is not None and home.directory_id is not None:
            self._parts.directory_events.assign(partition.topic_id, partition.index, home.directory_id)
        return True

    def _give_up(self, move: Move, problem: Exception | None) -> None:
        if problem is not None:
            _log.error("[%s] not moved to %s: %s", move.name, move.directory, problem)
        self.cancel(move.partition)
        if isinstance(problem, StorageError):
            self._parts.directory_watch.failed(problem)

    def _drop(self, move: Move) -> None:
        """Has the copy's files removed, on a disk that still works."""
        home = self._logs.directories.containing(move.target.directory)
        if home is None or not home.is_online:
            return
        name = directory_name(move.name, DirectoryKind.DELETE, fresh_id())
        try:
            move.target.relocate(f"{home.path}/{name}")
        except StorageError as error:
            self._parts.directory_watch.failed(error)
        else:
            self._logs.maintenance.removal.add_log(move.target, self._parts.clock.now_ms())
