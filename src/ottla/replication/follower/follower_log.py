"""Writing a follower's log: what the leader sends, and what has to go because the leader's is another."""

from collections.abc import Callable
from typing import Final

from ottla.base.clock import Clock
from ottla.protocol.records.batch import Batch
from ottla.replication.directory.disk_errand import ErrandDone, Finish
from ottla.replication.directory.durable_log_start import SafeStarts
from ottla.replication.follower.leader_endpoint import ReplicaFetched
from ottla.replication.follower.truncator import Truncator
from ottla.replication.partition.partition import Partition
from ottla.replication.partition.truncation import truncation_offset
from ottla.replication.schedule.waiting import Waiting
from ottla.storage.errors import StorageError, UnexpectedOffsetError
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.log_manager import LogManager
from ottla.storage.topic_partition import TopicPartition


class FollowerLog:
    """All logs of a broker, as a follower writes them. `failed` hears of every I/O error."""

    def __init__(
        self,
        logs: LogManager,
        truncator: Truncator,
        waiting: Waiting,
        clock: Clock,
        failed: Callable[[StorageError], None],
        starts: SafeStarts,
    ) -> None:
        self._logs: Final = logs
        self.starts: Final = starts
        self._truncator: Final = truncator
        self._waiting: Final = waiting
        self._clock: Final = clock
        self.failed: Final = failed
        self.truncated: Callable[[Partition], None] = _nobody
        """Called when a log was cut: a copy in progress may have too much."""

    def when_settled(self, partition: Partition, callback: Callable[[], None]) -> None:
        """Calls back once no truncation of the log is under way, and no append; at once if none is."""
        log = partition.log
        log.when_written(log.next_offset, lambda error: self._truncator.when_settled(partition, callback))

    def append(self, partition: Partition, fetched: ReplicaFetched) -> int | None:
        """Takes over the leader's records; `take_bounds` when they are written.

        An offset if nothing was taken yet, because the log has to begin there first (`restart`).
        """
        return self._append(partition, fetched) if len(fetched.records) else None

    def take_bounds(self, partition: Partition, fetched: ReplicaFetched) -> None:
        """Takes over the leader's high watermark and log start, as far as this log goes."""
        log = partition.log
        high_watermark = min(fetched.high_watermark, log.log_end_offset)
        moved = high_watermark != log.high_watermark
        if moved:
            log.update_high_watermark(high_watermark)
        before = log.log_start_offset
        if fetched.log_start_offset > before:
            # Beyond the own end the follower has yet to find out; beyond the high watermark it waits for the next.
            log.increment_log_start_offset(min(fetched.log_start_offset, log.high_watermark))
            if log.log_start_offset > before:
                self.starts.moved(partition, before)
        if moved and partition in self._waiting.fetches.watched:
            self._waiting.fetches.check(partition)

    def _append(self, partition: Partition, fetched: ReplicaFetched) -> int | None:
        log, now_ms = partition.log, self._clock.now_ms()
        try:
            log.append_as_follower(fetched.records, partition.leader_epoch, now_ms)
        except UnexpectedOffsetError:
            first = Batch(fetched.records)
            is_empty = log.log_end_offset == log.log_start_offset
            if not (is_empty and first.base_offset < log.log_end_offset <= first.last_offset):
                raise
            # DeleteRecords moved the leader's start into the middle of a batch, and batches are copied whole: an
            # empty log that begins at 105 is to hold [100, 110], so it begins at 100.
            return first.base_offset
        return None

    def truncate(self, partition: Partition, diverging: EpochEntry, done: ErrandDone) -> bool:
        """Goes back to where the leader's history and this one are the same, or a step towards it.

        False if the log is being flushed, which the loop does not wait for: the leader will say the same again.
        """
        return self.truncate_to(partition, truncation_offset(partition.log, diverging), done)

    def truncate_to(self, partition: Partition, offset: int, done: ErrandDone) -> bool:
        """Drops everything from an offset on; False as above.

        A former leader may have begun an epoch at the log end and written nothing in it. No record goes with it, but
        the epoch has to, or the leader would be told of it again and again.
        """
        name = TopicPartition(partition.topic, partition.index)
        offset = min(offset, partition.log.log_end_offset)
        return self._cut(partition, lambda: self._logs.begin_truncation(name, offset), done)

    def restart(self, partition: Partition, offset: int, done: ErrandDone) -> bool:
        """Drops everything; the log begins at the offset. False as above."""
        name = TopicPartition(partition.topic, partition.index)
        return self._cut(partition, lambda: self._logs.begin_restart(name, offset), done)

    def _cut(self, partition: Partition, begin: Callable[[], Finish | None], done: ErrandDone) -> bool:
        try:
            finish = begin()
        except StorageError as error:
            done(error)
            return True
        if finish is None:
            return False

        def finished(problem: StorageError | None) -> None:
            if problem is None:
                self.truncated(partition)
            done(problem)

        self._truncator.submit(partition, finish, finished)
        return True


def _nobody(partition: Partition) -> None:
    """The default while no copy is made."""
