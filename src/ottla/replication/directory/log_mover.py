"""Moves logs between the directories of a broker (KIP-113): a copy is made beside the log, and takes its place.

A worker thread makes the copy and fills it with what is replicated, a stretch at a time; between two stretches the loop
looks whether it is still wanted. When little is missing the loop copies the rest itself and swaps, so that no append
comes in between. Then the worker flushes what there is, and only after that the old log goes: a move must not put at
risk what was safe, and the loop waits for no disk.

Log 0..1000, high watermark 990: the worker copies up to 990 and flushes, the loop copies 990..1000 and swaps, the
worker flushes those ten and the names of the directories.
"""

import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Final

from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    InvalidReplicaAssignmentError,
    InvalidTopicError,
    KafkaStorageError,
    LogDirNotFoundError,
    NotLeaderOrFollowerError,
    OffsetOutOfRangeError,
    UnknownServerError,
)
from ottla.protocol.records.batch import Batch
from ottla.replication.directory.disk_errand import DiskErrands
from ottla.replication.directory.log_preparation import LogPreparation
from ottla.replication.partition.partition import Partition
from ottla.replication.ports import Worker
from ottla.replication.replication_context import ReplicationContext
from ottla.storage.errors import StorageError, UnexpectedOffsetError
from ottla.storage.log.log import Log
from ottla.storage.log_manager_options import fresh_id
from ottla.storage.topic_partition import DirectoryKind, TopicPartition, directory_name

_log = logging.getLogger(__name__)
_STRETCH_BYTES: Final = 4 << 20
_REST_BYTES: Final = 1 << 20
"""The most bytes that the loop copies itself."""


_BUSY_SECONDS: Final = 0.05
"""How long a log is left alone that is being flushed or cut, or a move that is too fast."""
_DRAIN_AFTER_SECONDS: Final = 0.5
"""How long a move waits for a moment in which nothing is on its way to the log."""
_DRAIN_SECONDS: Final = 1.0
"""How long a log that a thread appends to refuses more, so that its copy can take its place."""
_DRAIN_AGAIN_SECONDS: Final = 10.0
"""How long it takes more after that, if the disk was too slow."""


class Move:
    """A partition on its way to another directory."""

    __slots__ = ("directory", "is_over", "is_working", "log", "may_drain_at", "name", "partition", "pause", "target")

    def __init__(self, partition: Partition, log: Log, directory: str, pause: ExitStack) -> None:
        self.partition = partition
        self.name = TopicPartition(partition.topic, partition.index)
        self.log = log
        self.directory = directory
        """Where it goes."""
        self.target: Log | None = None
        """The copy, once it is made."""
        self.pause = pause
        """Keeps the cleaner away: what it did to the log would not be done to the copy."""
        self.is_working = False
        """Whether the worker has something to do for it."""
        self.is_over = False
        self.may_drain_at = 0.0
        """When the log may refuse appends, at the earliest."""

    def copy(self, target: Log, bytes_max: int, end_offset: int, now_ms: int) -> int:
        """Copies some of what lies below an offset; how many bytes. On one thread at a time."""
        log = self.log
        if target.log_end_offset >= end_offset:
            return 0
        try:
            found = log.read(target.log_end_offset, bytes_max, end_offset).records
        except OffsetOutOfRangeError:
            # Nothing was copied yet, or retention was faster: the copy begins where the log does.
            target.truncate_fully_and_start_at(log.log_start_offset)
            return 0
        if found is None:
            return 0
        records = found.read()
        first_offset = Batch(records).base_offset
        if first_offset < target.log_end_offset:
            # The log begins in the middle of a batch, and batches are copied whole.
            target.truncate_fully_and_start_at(first_offset)
        target.append_as_follower(records, self.partition.leader_epoch, now_ms)
        return len(records)

    def complete(self, target: Log) -> None:
        """Gives the copy what is not in the records: epochs without any, and where the log begins."""
        log = self.log
        for entry in log.epochs.entries:
            target.epochs.note(entry.epoch, entry.start_offset)
        target.update_high_watermark(log.high_watermark)
        target.increment_log_start_offset(min(log.log_start_offset, target.high_watermark))


class LogMover:
    """All moves of a broker. Loop thread only, but for the copying."""

    def __init__(self, context: ReplicationContext, preparation: LogPreparation, worker: Worker) -> None:
        self._context: Final = context
        self._logs: Final = context.logs
        self._preparation: Final = preparation
        self._worker: Final = worker
        self._moves: dict[Partition, Move] = {}
        self._errands: Final[DiskErrands[TopicPartition]] = DiskErrands(context.mailbox, worker)
        """Pending work on the disk for copies that have replaced their logs."""
        self._is_closed = False

    def close(self) -> None:
        """Copies nothing more; the next start goes on from what there is."""
        self._is_closed = True

    def __len__(self) -> int:
        return len(self._moves)

    def begin(self, name: TopicPartition, path: str, cordoned: frozenset[str], done: Callable[[int], None]) -> None:
        """Begins to move a replica, or notes where it is to be made when it comes to this broker; an error code."""
        try:
            self._begin(name, path, cordoned, done)
        except NotLeaderOrFollowerError:
            # What clients of this API always were told of a replica that is not here.
            self._preparation.prefer(name, path)
            done(ErrorCode.REPLICA_NOT_AVAILABLE)
        except (InvalidTopicError, LogDirNotFoundError) as error:
            # The client's mistake, and not worth a line for each partition that it names.
            done(error.code)
        except ApiError as error:
            self._refuse(name, path, error, done)

    def _begin(self, name: TopicPartition, path: str, cordoned: frozenset[str], done: Callable[[int], None]) -> None:
        if not directory_name(name, DirectoryKind.FUTURE, fresh_id()).startswith(f"{name}."):
            # A copy whose name is cut would be another topic's for the next start.
            raise InvalidTopicError("The topic name is too long.")
        directories = self._logs.directories
        if path not in {home.path for home in directories.all()}:
            raise LogDirNotFoundError(f"Log dir {path} is not found in the config.")
        if path in {home.path for home in directories.offline()}:
            raise KafkaStorageError(f"Log directory {path} is offline")
        if path in cordoned or "*" in cordoned:
            raise InvalidReplicaAssignmentError(f"Log directory {path} is cordoned")
        partition = self._context.table.get(*name)
        move = self._moves.get(partition)
        if move is not None:
            if move.directory == path:
                done(ErrorCode.NONE)
                return
            self.cancel(partition)
        home = directories.home_of(name)
        if home is None or home.path != path:
            directories.check_all_online(name)
            self._make(partition, path, done)
        else:
            done(ErrorCode.NONE)

    def _refuse(self, name: TopicPartition, path: str, error: ApiError, done: Callable[[int], None]) -> None:
        _log.warning("[%s] cannot be moved to %s: %s", name, path, error)
        self._context.directory_watch.check()
        done(error.code)

    def resume(self, partition: Partition) -> None:
        """Goes on with a move that a restart interrupted."""
        target = self._logs.get_future(TopicPartition(partition.topic, partition.index))
        if target is not None and partition not in self._moves:
            move = self._new_move(partition, os.path.dirname(target.directory))
            if move is not None:
                self._start(move, target)

    def cancel(self, partition: Partition) -> None:
        """Drops a copy, if one is being made."""
        move = self._moves.pop(partition, None)
        if move is None:
            return
        move.is_over = True
        move.log.is_draining = False
        move.pause.close()
        partition.future_log = None
        home = self._logs.directories.future_home_of(move.name)
        if home is not None:
            home.future_logs.pop(move.name)
        if not move.is_working:
            self._drop(move)

    def truncated(self, partition: Partition) -> None:
        """The log was cut, perhaps below what was copied: the copy is made anew."""
        move = self._moves.get(partition)
        target = None if move is None else move.target
        if move is not None and target is not None and target.log_end_offset > partition.log.log_end_offset:
            self.cancel(partition)
            self._make(partition, move.directory, _nobody)

    # Making

    def _new_move(self, partition: Partition, directory: str) -> Move | None:
        name = TopicPartition(partition.topic, partition.index)
        log = self._logs.get(name)
        if log is None:
            return None
        pause = ExitStack()
        pause.enter_context(self._logs.cleaning.paused(name))
        move = self._moves[partition] = Move(partition, log, directory, pause)
        return move

    def _make(self, partition: Partition, directory: str, done: Callable[[int], None]) -> None:
        move = self._new_move(partition, directory)
        if move is None:
            done(ErrorCode.KAFKA_STORAGE_ERROR)
            return
        move.is_working = True

        def job() -> None:
            made: Log | ApiError
            try:
                made = self._logs.open_future(move.name, directory)
            except ApiError as error:
                made = error
            self._context.mailbox.post(partial(self._made, move, made, done))

        self._worker.submit(job)

    def _made(self, move: Move, made: Log | ApiError, done: Callable[[int], None]) -> None:
        move.is_working = False
        if isinstance(made, ApiError):
            self._cancel_if_current(move)
            self._refuse(move.name, move.directory, made, done)
            return
        if move.is_over:
            move.target = made
            self._drop(move)
        elif not self._is_closed:
            self._logs.add_future(move.name, made)
            self._start(move, made)
        done(ErrorCode.NONE)

    def _cancel_if_current(self, move: Move) -> None:
        if self._moves.get(move.partition) is move:
            self.cancel(move.partition)

    # Copying

    def _start(self, move: Move, target: Log) -> None:
        move.target = move.partition.future_log = target
        move.may_drain_at = self._context.loop.time() + _DRAIN_AFTER_SECONDS
        _log.info("[%s] moving from %s to %s", move.name, os.path.dirname(move.log.directory), move.directory)
        self._copy_on(move, target)

    def _copy_on(self, move: Move, target: Log) -> None:
        if move.is_over or self._is_closed:
            return
        if self._context.throttles.moves.is_exceeded:
            self._copy_later(move, target)
            return
        move.is_working = True
        end_offset, now_ms = move.log.high_watermark, self._context.clock.now_ms()

        def job() -> None:
            problem: ApiError | None = None
            copied_bytes = 0
            try:
                copied_bytes = move.copy(target, _STRETCH_BYTES, end_offset, now_ms)
                target.flush(now_ms, target.active_segment.base_offset)
                if target.log_end_offset >= end_offset:
                    move.complete(target)
                    target.flush(now_ms)
                    self._logs.checkpoint_future(target)
            except (ApiError, UnexpectedOffsetError) as error:
                problem = error if isinstance(error, ApiError) else UnknownServerError(str(error))
            self._context.mailbox.post(lambda: self._copied(move, target, end_offset, copied_bytes, problem))

        self._worker.submit(job)

    def _copy_later(self, move: Move, target: Log) -> None:
        loop = self._context.loop
        loop.call_at(loop.time() + _BUSY_SECONDS, partial(self._copy_on, move, target))

    def _copied(self, move: Move, target: Log, end_offset: int, copied_bytes: int, problem: ApiError | None) -> None:
        move.is_working = False
        self._context.throttles.moves.record(move.partition, copied_bytes)
        if self._is_closed:
            return
        if move.is_over:
            self._drop(move)
        elif problem is not None or not self._context.table.is_here(move.partition):
            self._give_up(move, problem)
        elif target.log_end_offset < end_offset or not self._swap(move, target):
            self._copy_on(move, target)

    def _swap(self, move: Move, target: Log) -> bool:
        """Copies the rest and puts the copy in the log's place, unless the rest is too much for the loop."""
        log, now_ms = move.log, self._context.clock.now_ms()
        if log.is_busy or target.pace.is_stuck:
            if not self._drain(move, target):
                self._copy_later(move, target)
            return True
        try:
            move.copy(target, _REST_BYTES, log.log_end_offset, now_ms)
            if target.log_end_offset != log.log_end_offset:
                return False
            move.complete(target)
            target.take_over_producers(log, now_ms)
            finish = self._logs.begin_replacement(move.name)
        except (ApiError, UnexpectedOffsetError) as error:
            self._give_up(move, error)
            return True
        log.is_draining = False
        move.partition.log = target
        move.partition.future_log = None
        del self._moves[move.partition]
        self._errands.submit(move.name, finish, partial(self._moved, move))
        return True

    def _drain(self, move: Move, target: Log) -> bool:
        """Has the log refuse appends, which clients repeat, until those that are on their way are in the file.

        A log that is always written to would never be free for the change otherwise. False if that is not what it
        waits for, or if it was tried a moment ago.
        """
        log, loop = move.log, self._context.loop
        if log.backlog is None or log.pace.is_stuck or target.pace.is_stuck or loop.time() < move.may_drain_at:
            return False

        def written(error: StorageError | None) -> None:
            if not move.is_over and not self._is_closed:
                self._copy_on(move, target)

        move.may_drain_at = loop.time() + _DRAIN_AGAIN_SECONDS
        log.is_draining = True
        loop.call_at(loop.time() + _DRAIN_SECONDS, partial(_take_appends, log))
        log.when_written(log.next_offset, written)
        return True

    def _moved(self, move: Move, problem: StorageError | None) -> None:
        move.is_over = True
        move.pause.close()
        if problem is not None:
            self._context.directory_watch.failed(problem)
        partition, home = move.partition, self._logs.directories.home_of(move.name)
        if home is None or home.path != move.directory:
            return
        _log.info("[%s] moved to %s", move.name, move.directory)
        if home.directory_id is not None:
            self._context.directory_events.assign(partition.topic_id, partition.index, home.directory_id)

    def finish_all(self) -> None:
        """Brings moves to their end that the worker did not get to; on a thread that may wait."""
        self._errands.finish_all()

    def _give_up(self, move: Move, problem: Exception | None) -> None:
        if problem is not None:
            _log.error("[%s] not moved to %s: %s", move.name, move.directory, problem)
        self.cancel(move.partition)
        if isinstance(problem, StorageError):
            self._context.directory_watch.failed(problem)

    def _drop(self, move: Move) -> None:
        """Has the copy's files removed, on a disk that still works."""
        target = move.target
        home = None if target is None else self._logs.directories.containing(target.directory)
        if target is None or home is None or not home.is_online:
            return
        name = directory_name(move.name, DirectoryKind.DELETE, fresh_id())
        try:
            target.discard(f"{home.path}/{name}")
        except StorageError as error:
            self._context.directory_watch.failed(error)
        else:
            self._logs.maintenance.removal.add_log(target, self._context.clock.now_ms())


def _take_appends(log: Log) -> None:
    log.is_draining = False


def _nobody(code: int) -> None:
    """Waits for the answer."""
