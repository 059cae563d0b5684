"""All partitions of a broker: finds them, and serves the requests that concern several.

A listener of the metadata, which says which partitions there are. The parts that do the work are made and put
together here: `appender`, `log_reader`, `record_deleter`, `delta_applier`, `isr_updater`, `fetcher_pool`, `log_mover`,
`housekeeping`.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Final

from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.errors import NotLeaderOrFollowerError
from ottla.replication.delta_applier import DeltaApplier
from ottla.replication.directory.directory_watch import DirectoryWatch
from ottla.replication.directory.durable_log_start import SafeStarts
from ottla.replication.directory.log_dir import LogDirDescription, describe_log_dirs
from ottla.replication.directory.log_mover import LogMover
from ottla.replication.directory.log_preparation import LogPreparation
from ottla.replication.follower.fetcher import FetcherContext
from ottla.replication.follower.fetcher_pool import FetcherPool
from ottla.replication.follower.follower_log import FollowerLog
from ottla.replication.follower.throttle import ThrottleLimits, Throttles
from ottla.replication.follower.truncator import Truncator
from ottla.replication.housekeeping import Housekeeping
from ottla.replication.isr_updater import IsrUpdater
from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition.offset_lookup import offset_for_timestamp
from ottla.replication.partition.partition import Partition
from ottla.replication.partition_table import PartitionTable
from ottla.replication.ports import Worker
from ottla.replication.replica_manager_options import ReplicaManagerOptions
from ottla.replication.replication_context import ReplicationContext
from ottla.replication.request.appender import Appender
from ottla.replication.request.cold_read import ColdReads
from ottla.replication.request.delete_records import DeleteRecordsDone, DeleteRecordsEntry
from ottla.replication.request.fetch import FetchDone, FetchParams, FetchPartition
from ottla.replication.request.flush_wait import FlushWait
from ottla.replication.request.follower_fetch import FollowerFetches
from ottla.replication.request.log_reader import LogReader
from ottla.replication.request.offset_query import MAX_TIMESTAMP, OffsetAnswer, OffsetQuery
from ottla.replication.request.pending_fetch import PendingFetch
from ottla.replication.request.record_deleter import RecordDeleter
from ottla.replication.request.replica_selector import RACK_AWARE, RackAwareSelector
from ottla.replication.schedule.mailbox import Mailbox
from ottla.replication.schedule.periodic import PeriodicTask
from ottla.replication.schedule.timer_wheel import TimerWheel
from ottla.replication.schedule.waiting import Waiting
from ottla.replication.settings import ReplicationSettings
from ottla.storage.errors import StorageError
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.producer_state.entry import ProducerEntry
from ottla.storage.topic_partition import TopicPartition

_CHANGE_THREADS: Final = 4
"""Making a log is mostly waiting for the disk, which serves several at once."""
_DISK_WAIT_MS: Final = 10_000
"""How long a fetch waits for a disk, however soon its client wants an answer: there is nothing else to be told."""
_COMPANY_WAIT_MS: Final = 500
"""How long records that are at hand wait for older ones that the same consumer has asked for."""


class ReplicaManager:
    """The partitions of one broker. Loop thread only."""

    def __init__(self, options: ReplicaManagerOptions) -> None:
        logs, clock, loop = options.logs, options.clock, options.loop
        self._options: Final = options
        self._settings = options.settings
        self._logs: Final = logs
        self._wheel: Final = TimerWheel(loop)
        self.waiting: Final = Waiting(self._wheel)
        self.table: Final = PartitionTable()
        self._view: Final = ClusterView(options.node_id, options.settings.replica_lag_time_max_ms)
        mailbox = Mailbox(loop)
        self._watch: Final = DirectoryWatch(logs, self.table, self.waiting, options.directory_events)
        self._workers: list[Worker] = []
        self._truncator: Final = Truncator(mailbox, self._worker("log-truncation"))
        changers = [self._worker(f"log-change-{number}") for number in range(_CHANGE_THREADS)]
        self._changer: Final = changers[0]
        self._housekeeping: Final = Housekeeping(logs, clock, loop, self._watch.check)
        checkpoint_starts = partial(self._housekeeping.checkpoint_log_starts_then, self._changer)
        starts = SafeStarts(checkpoint_starts)
        follower_log = FollowerLog(logs, self._truncator, self.waiting, clock, self._watch.failed, starts)
        self._throttles: Final = Throttles(options.node_id, clock, options.settings)
        fetching = FetcherContext(
            loop, follower_log, lambda: self._settings.replica_fetch_backoff_ms, self._throttles.follower
        )
        self._fetchers: Final = FetcherPool(fetching, options.endpoint_of, options.settings.num_replica_fetchers)
        self._watch.fetchers = self._fetchers
        starts.saved = self._fetchers.start_saved
        context = ReplicationContext(
            logs=logs,
            table=self.table,
            view=self._view,
            waiting=self.waiting,
            fetchers=self._fetchers,
            directory_watch=self._watch,
            directory_events=options.directory_events,
            clock=clock,
            loop=loop,
            mailbox=mailbox,
            throttles=self._throttles,
            note_fault=options.note_fault,
        )
        self._preparation: Final = LogPreparation(logs, mailbox, changers)
        self._mover: Final = LogMover(context, self._preparation, self._worker("log-mover"))
        follower_log.truncated = self._mover.truncated
        self._applier: Final = DeltaApplier(context, self._preparation, self._mover)
        self.isr: Final = IsrUpdater(self.table, self.waiting, options.alter_partition, self._wheel)
        is_rack_aware = options.settings.replica_selector_class == RACK_AWARE
        selector = RackAwareSelector(self._view) if is_rack_aware else None
        self._cold: Final = ColdReads(loop, mailbox, self._worker, self.waiting.check)
        followers = FollowerFetches(self.waiting, self.isr, clock)
        self._reader: Final = LogReader(
            self.table, followers, self._watch.failed, self._throttles.leader, self._cold, selector
        )
        flush_wait = FlushWait(logs, mailbox, self._watch.failed)
        appender = Appender(self.table, self.waiting, flush_wait, clock, self._watch.failed)
        # Every produce comes this way: the call goes straight to where the work is done.
        self.append: Final = appender.append
        self.append_alone: Final = appender.append_alone
        self._deleter: Final = RecordDeleter(self.table, self.waiting, self._watch.failed, checkpoint_starts)
        self._shrinking: Final = PeriodicTask(loop, self._shrink_interval_ms, self._shrink_isrs)

    def _worker(self, name: str) -> Worker:
        worker = self._options.make_worker(name)
        self._workers.append(worker)
        return worker

    # Life

    def start(self) -> None:
        """Begins the periodic work."""
        self._housekeeping.start(lambda: self._settings, self._changer, self._worker("log-maintenance"))
        self._housekeeping.start_flushing(self._worker)
        self._housekeeping.start_appending(self._worker)
        cleaner = self._options.cleaner
        if cleaner is not None:
            for number in range(cleaner.config.threads):
                self._housekeeping.start_cleaner(cleaner, self._worker(f"log-cleaner-{number}"))
        self._shrinking.start(self._shrink_interval_ms())

    async def stop(self) -> None:
        """Ends periodic work, fetchers and whatever waits; the logs are the log manager's to close, after this.

        Threads may be about to change a log on the loop, so they are waited for while it runs on.
        """
        self._shrinking.stop()
        self._housekeeping.stop()
        self._applier.close()
        self._preparation.close()
        self._mover.close()
        self._fetchers.close()
        self._wheel.close()
        for worker in self._workers:
            await asyncio.to_thread(worker.close)
        await asyncio.to_thread(self._housekeeping.finish_appends)
        await asyncio.to_thread(self._truncator.finish_all)
        await asyncio.to_thread(self._mover.finish_all)

    def update_settings(self, settings: ReplicationSettings) -> None:
        """Takes changed settings; they count from the next time each is looked at."""
        self._settings = settings
        self._view.lag_time_max_ms = settings.replica_lag_time_max_ms
        self._fetchers.resize(settings.num_replica_fetchers)

    def limit_throttles(self, limits: ThrottleLimits) -> None:
        """Takes changed limits of replication."""
        self._throttles.change(limits)

    def begin_controlled_shutdown(self) -> None:
        """The broker is leaving: partitions without a leader, or where it is out of sync, are fetched no more."""
        self._applier.in_controlled_shutdown = True

    def _shrink_interval_ms(self) -> int:
        return self._settings.replica_lag_time_max_ms // 2

    def _shrink_isrs(self, done: Callable[[], None]) -> None:
        self.isr.shrink(self.table.all(), self._options.clock.monotonic_ms())
        done()

    # Metadata

    @property
    def applied_offset(self) -> int:
        """The offset of the newest image whose changes have all been made here; -1 before the first."""
        return self._applier.applied_offset

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Creates, promotes, demotes and deletes what the delta says, in slices if there is much of it."""
        self._view.cluster = image.cluster
        self.table.topics = image.topics
        self._applier.submit(delta, image)

    def when_applied(self, offset: int, callback: Callable[[], None]) -> None:
        """Calls back once all changes up to the image at `offset` were made; at once if they are."""
        self._applier.when_applied(offset, callback)

    # Finding

    def get(self, topic: str, index: int) -> Partition | None:
        """The partition, if it is on this broker."""
        return self.table.online.get((topic, index))

    def leader(self, topic: str, index: int) -> Partition:
        """The partition, led by this broker.

        Raises KAFKA_STORAGE_ERROR if its directory is offline, NOT_LEADER_OR_FOLLOWER if another broker leads it or
        its creation is still to come, UNKNOWN_TOPIC_OR_PARTITION if the cluster has no such partition.
        """
        partition = self.table.get(topic, index)
        if not partition.is_leader:
            raise NotLeaderOrFollowerError(f"Leader not local for partition {topic}-{index}")
        return partition

    def partitions(self) -> Iterable[Partition]:
        """All of them."""
        return self.table.all()

    # Requests

    def fetch(
        self, params: FetchParams, wanted: Sequence[FetchPartition], done: FetchDone
    ) -> Callable[[], None] | None:
        """Reads each partition, and calls `done` at once if there is enough, or an error, or no time to wait.

        If it has to wait it returns a function that gives the request up, for when its client is gone.
        """
        results, size_bytes, is_final, is_cold = self._reader.read(params, wanted, is_first=True)
        wait_ms = params.max_wait_ms
        if is_cold and size_bytes and params.replica_id >= 0:
            is_cold = False  # Producers wait for followers: what is there goes at once.
        if is_cold:
            wait_ms = max(wait_ms, _COMPANY_WAIT_MS if size_bytes else _DISK_WAIT_MS)
        if is_final or (size_bytes >= params.min_bytes and not is_cold) or wait_ms <= 0 or not wanted:
            self._reader.answered(params, wanted, results)
            done(results)
            return None
        pending = PendingFetch(self.table, self._reader, params, done)
        keys = pending.watch(wanted)
        if keys is None:
            pending.complete()
            return None
        return self.waiting.fetches.watch(pending, keys, wait_ms)

    def delete_records(
        self, entries: Sequence[DeleteRecordsEntry], *, timeout_ms: int, done: DeleteRecordsDone
    ) -> None:
        """Moves log starts up, and calls `done` once all live replicas have. A partition named twice counts once."""
        self._deleter.delete(entries, timeout_ms=timeout_ms, done=done)

    def search_ahead(self, wanted: Iterable[tuple[str, int, int]], done: Callable[[], None]) -> None:
        """Has threads read what `list_offset` will need for topic, partition and time; `done` is called after that."""
        found = [
            (partition, timestamp)
            for topic, index, timestamp in wanted
            if (timestamp >= 0 or timestamp == MAX_TIMESTAMP) and (partition := self.get(topic, index)) is not None
        ]
        if found:
            self._cold.search(found, done)
        else:
            done()

    def list_offset(self, query: OffsetQuery) -> OffsetAnswer:
        """Looks an offset up by time; raises the `ApiError` that ListOffsets answers for the partition."""
        try:
            return offset_for_timestamp(self.table.get(query.topic, query.partition), query)
        except StorageError as error:
            self._watch.failed(error)
            raise

    def last_offset_for_epoch(self, partition: TopicPartition, current_leader_epoch: int, epoch: int) -> EpochEntry:
        """The end of a leader epoch (OffsetForLeaderEpoch); raises the `ApiError` of the partition."""
        return self.table.get(*partition).last_offset_for_epoch(current_leader_epoch, epoch)

    def describe_producers(self, partition: TopicPartition) -> Sequence[ProducerEntry]:
        """The producers that a partition on this broker remembers; raises the `ApiError` of the partition."""
        return self.table.get(*partition).active_producers()

    def describe_log_dirs(self, partitions: Collection[TopicPartition] | None) -> list[LogDirDescription]:
        """Every log directory, with all logs (None) or those that are asked for."""
        return describe_log_dirs(self._logs, self.table, partitions, self._settings.cordoned_log_dirs)

    def alter_log_dir(self, name: TopicPartition, path: str, done: Callable[[int], None]) -> None:
        """Begins to move a replica to another directory; `done` hears an error code, 0 once the copy is begun."""
        self._mover.begin(name, path, self._settings.cordoned_log_dirs, done)
