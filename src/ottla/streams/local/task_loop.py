"""One life of a process in the group: joins it, runs the tasks it is given, commits what they have done, and leaves.

A turn: fetch what is there, process for some milliseconds, hand over outputs, commit if it is time. Tasks are opened in
the background meanwhile. The loop raises what it meets; `Worker` decides what then.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ottla.client.consumer.rebalance_listener import RebalanceListener
from ottla.client.errors import WakeupError
from ottla.client.record import TopicPartition
from ottla.streams.engine.store.reading import read_store
from ottla.streams.errors import StreamsError
from ottla.streams.host.application import Application
from ottla.streams.host.run_state import RunState
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.assignor import MemberFacts, StreamsAssignor
from ottla.streams.local.cluster_clients import ClusterClients
from ottla.streams.local.committing import Committing, CommitWriter, TransactionWriter
from ottla.streams.local.failure import FailureResponse, TasksLostError, UnknownTopicError
from ottla.streams.local.global_table import GlobalTables
from ottla.streams.local.purge import RepartitionPurge
from ottla.streams.local.query.place import StorePlaces, stage_of
from ottla.streams.local.query.reader import InvalidStateStoreError, StoreQuery
from ottla.streams.local.record_sender import RecordSender
from ottla.streams.local.restoration import Restoration, StateRestoreListener
from ottla.streams.local.setting import LocalSettings
from ottla.streams.local.task_opening import OpenTask, TaskOpening
from ottla.streams.local.task_run import TaskPorts, TaskRun
from ottla.streams.local.task_store import TaskStores, stored_tasks
from ottla.streams.local.task_table import TaskTable

_SLICE_RECORDS: Final = 100
_TURN_S: Final = 0.004
_IDLE_S: Final = 0.25
_SHUTDOWN_S: Final = 10.0
_COMMIT_RECORDS: Final = 50_000
"""A commit comes early after so many: what undoes it is kept in memory."""


@dataclass(frozen=True)
class WorkerPorts:
    """The callbacks of a worker."""

    moved: Callable[[RunState], None]
    failed: Callable[[Exception], FailureResponse]
    restore_listener: StateRestoreListener = field(default_factory=StateRestoreListener)


class ApplicationShutdownError(StreamsError):
    """An instance has asked all instances to end."""


class TaskLoop(RebalanceListener):
    """One membership in the group, from joining to leaving."""

    def __init__(
        self,
        application: Application,
        settings: LocalSettings,
        clients: ClusterClients,
        ports: WorkerPorts,
        counts: Mapping[str, int],
    ) -> None:
        self.application: Final = application
        self._settings: Final = settings
        self._clients: Final = clients
        self._ports: Final = ports
        self._counts: Final = counts
        self._assignor: Final = StreamsAssignor(application, settings.standby_replicas)
        self._assignor.on_join = self._tell_facts
        self.consumer: Final = clients.make_consumer(self._assignor)
        self.sender: Final = RecordSender(clients.producer, application.configuration)
        self.global_tables: Final = GlobalTables(application, clients.global_consumer, settings.state_dir)
        self.restoration: Final = Restoration(clients.restore_consumer, ports.restore_listener)
        self._global_stores: Final[dict[str, Any]] = {}
        self.table: Final = TaskTable(application, self._opening(), self.restoration, self.wake)
        writer = (
            TransactionWriter(self.consumer, clients.producer)
            if settings.is_exactly_once
            else CommitWriter(self.consumer)
        )
        self._committing: Final = Committing(self.consumer, self.sender, writer)
        self._paused: set[TopicPartition] = set()
        self._is_rebalancing = True
        self._wants_shutdown = False
        self._committed_s = time.monotonic()
        self._uncommitted_records = 0
        self._has_more = False
        self._background: Final[list[asyncio.Task[None]]] = []

    def _opening(self) -> TaskOpening:
        settings, application = self._settings, self.application
        ports = TaskPorts(
            application,
            self.sender,
            self._global_stores,
            self._partition_count,
            self.consumer.current_lag,
            settings.idle_ms_max,
        )
        return TaskOpening(
            self._clients.admin,
            ports,
            self.restoration,
            lambda task: TaskStores(application, task, settings.state_dir),
            is_exactly_once=settings.is_exactly_once,
        )

    async def start(self) -> None:
        """Fills the global tables and subscribes; the first turn joins."""
        self._global_stores.update(await self.global_tables.load())
        if self._settings.is_exactly_once:
            self._clients.producer.begin_transaction()
        self.run_beside(self.restoration.run(), "restoration")
        purge = RepartitionPurge(self.application, self._clients.admin, self._committing.committed)
        self.run_beside(purge.run(self._settings.purge_interval_ms), "purge")
        if self._global_stores:
            self.run_beside(self.global_tables.follow(), "global tables")
        self.consumer.subscribe(self.application.inputs, listener=self)

    def run_beside(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Has something done until `close`; what it raises, the next turn does."""
        self._background.append(asyncio.create_task(work, name=name))

    def wake(self) -> None:
        """Ends the wait of a turn."""
        self.consumer.wakeup()

    async def turn(self) -> None:
        """Fetches, processes, commits."""
        self._check_background()
        for found in self.table.take_open():
            self._activate(found)
        self._show_state()
        with contextlib.suppress(WakeupError):
            records = await self.consumer.poll(self._wait_s())
            for place, found_records in records.by_partition().items():
                run = self.table.run_of(place)
                if run is not None:
                    run.add(place, found_records)
        self._check_assignment()
        self._process()
        await self.sender.drain()
        self._pause_and_resume()
        if self._is_time_to_commit():
            await self._commit(self.table.running.values())
        # The loop gets its turn even where each call finds its data at hand.
        await asyncio.sleep(0)

    async def shut_down_all(self) -> None:
        """Has all instances of the application end, by way of a rebalance.

        It stays until the others have gone: a member that leaves begins the next rebalance, and one that was slower to
        ask for its share of this one would hear nothing.
        """
        self._wants_shutdown = True
        await self._close_tasks(list(self.table.running))
        self.consumer.enforce_rebalance("an instance asks all to shut down")
        deadline_s = time.monotonic() + _SHUTDOWN_S
        while not self._assignor.is_alone_in_shutdown and time.monotonic() < deadline_s:
            with contextlib.suppress(WakeupError):
                await self.consumer.poll(_IDLE_S)

    async def close(self, *, is_clean: bool) -> None:
        """Ends all tasks, after a last commit if they are in order, and leaves the group."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        try:
            if is_clean:
                await self._commit(self.table.running.values())
        finally:
            await self.table.close_all()
            self.global_tables.close()
            await self._clients.drop_consumer(self.consumer)

    def metrics(self) -> dict[str, float]:
        """The counters since it joined."""
        runs = list(self.table.running.values())
        return {
            "process-total": sum(run.processed_records for run in runs),
            "dropped-records-total": self._dropped_records(runs),
            "send-total": self.sender.sent_records,
            "restore-total": self.restoration.restored_records,
            "active-tasks": len(runs),
            "standby-tasks": len(self.table.copies),
        }

    def _dropped_records(self, runs: list[TaskRun]) -> int:
        elsewhere = self.sender.dropped_records + self.global_tables.dropped_records
        return sum(run.engine.dropped_records for run in runs) + elsewhere

    # Queries

    @property
    def places(self) -> StorePlaces:
        """The places of all stores, by the last task map."""
        return StorePlaces(self.application, self._assignor.task_map)

    def views(self, query: StoreQuery) -> list[Any]:
        """The views of a store on this process; raises if it cannot be asked now."""
        application = self.application
        if query.store in application.topology.global_sources.values():
            return [self.global_tables.store(query.store)]
        stage, spec = stage_of(application, query.store)
        running, copies = self.table.running, self.table.copies if query.stale else {}
        tasks = [TaskId(stage.number, number) for number in range(stage.partitions)]
        if query.partition is not None:
            tasks = [task for task in tasks if task.partition == query.partition]
        runs = [run for task in tasks if (run := running.get(task) or copies.get(task)) is not None]
        if not runs or (not self.table.is_settled and not query.stale):
            raise InvalidStateStoreError(
                f"The state store, {query.store}, may have migrated to another instance, or is being restored: ask "
                f"again, ask the instance that query_metadata_for_key names, or allow stale reads"
            )
        serdes = application.configuration.get
        return [
            read_store(
                spec,
                application.application_id,
                run.stores.state_map(spec),  # type: ignore[arg-type]  # both maps of this host have pages
                lambda role: serdes(f"default.{role.value}.serde"),
                with_times=query.type.with_times,
            )
            for run in runs
        ]

    # The group

    async def on_partitions_assigned(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        """Opens the tasks that came."""
        self._is_rebalancing = False
        tasks = self.table.tasks_of(partitions)
        places = [place for task in tasks for place in self.application.places_of(task)]
        consumer.pause(places)
        self._paused |= set(places)
        await self.table.open(tasks)
        await self.table.follow(self._assignor.task_map.standby)

    async def on_partitions_revoked(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        """Commits, and ends the tasks that go.

        Those that stay are committed, too: their outputs are in the same transaction.
        """
        await self._commit(self.table.running.values())
        await self._close_tasks(self.table.tasks_of(partitions))

    async def on_partitions_lost(self, consumer: Any, partitions: Collection[TopicPartition]) -> None:
        """Ends the tasks, which others have already: what they did since the last commit does not count.

        Exactly once, it is in the open transaction, which only a producer that begins anew aborts.
        """
        tasks = self.table.tasks_of(partitions)
        had_run = any(task in self.table.running for task in tasks)
        await self._close_tasks(tasks)
        if had_run and self._settings.is_exactly_once:
            raise TasksLostError("the group has given its tasks away, as it was not heard of")

    async def _close_tasks(self, tasks: Collection[TaskId]) -> None:
        self._paused -= {place for task in tasks for place in self.application.places_of(task)}
        await self.table.close(tasks)

    def _tell_facts(self) -> None:
        """Called before every join: commits wait until it is over, for the group's generation changes."""
        self._is_rebalancing = True
        settings = self._settings
        self._assignor.facts = MemberFacts(
            self._clients.process_id,
            settings.application_server,
            tuple(stored_tasks(settings.state_dir)),
            self._wants_shutdown,
        )

    def _check_assignment(self) -> None:
        found = self._assignor.task_map
        if found.is_shutdown:
            raise ApplicationShutdownError("another instance has met a failure on which the whole application ends")
        if found.complaint and found.may_pass:
            raise UnknownTopicError(found.complaint)
        if found.complaint:
            raise StreamsError(f"{found.complaint}: start the application again")

    def _show_state(self) -> None:
        is_settled = self.table.is_settled and not self._is_rebalancing
        self._ports.moved(RunState.RUNNING if is_settled else RunState.REBALANCING)

    # Tasks

    def _activate(self, found: OpenTask) -> None:
        run = found.run
        self.table.running[run.task] = run
        for place in run.places:
            if place in found.offsets:
                self.consumer.seek(place, found.offsets[place])
            elif self._begins_at_end(place.topic):
                self.consumer.seek_to_end([place])
            else:
                self.consumer.seek_to_beginning([place])
        run.start(found.times)
        self.consumer.resume(run.places)
        self._paused -= set(run.places)

    def _begins_at_end(self, topic: str) -> bool:
        application = self.application
        if application.short_name(topic) in application.topology.internal_topics:
            return False
        source = application.topology.source_of(topic)
        return ((source.offset_reset if source is not None else None) or self._settings.offset_reset) == "latest"

    def _partition_count(self, topic: str) -> int:
        found = self._counts.get(topic)
        if found is None:
            raise StreamsError(f"there is no topic {topic}: create it before the application starts")
        return found

    def _process(self) -> None:
        deadline_s = time.monotonic() + _TURN_S
        runs: list[TaskRun] = list(self.table.running.values())
        now_ms = time.time_ns() // 1_000_000
        for run in runs:
            run.punctuate_clock(now_ms)
        while runs:
            left = []
            for run in runs:
                count = run.process(_SLICE_RECORDS)
                self._uncommitted_records += count
                if count == _SLICE_RECORDS:
                    left.append(run)
            runs = left
            if self.sender.is_behind or time.monotonic() > deadline_s:
                break
        self._has_more = bool(runs)

    def _pause_and_resume(self) -> None:
        """Fetches no more of partitions of which enough records wait."""
        limit = self._settings.buffered_records_max
        full = {place for run in self.table.running.values() for place in run.places if run.waiting(place) > limit}
        running = {place for run in self.table.running.values() for place in run.places}
        pausing, resuming = full - self._paused, (self._paused & running) - full
        if pausing:
            self.consumer.pause(pausing)
        if resuming:
            self.consumer.resume(resuming)
        self._paused = (self._paused | pausing) - resuming

    def _wait_s(self) -> float:
        if self._has_more:
            return 0.0
        now_ms = time.time_ns() // 1_000_000
        wait_s = _IDLE_S
        for run in self.table.running.values():
            due = run.next_punctuation_ms()
            if due is not None:
                wait_s = min(wait_s, max(0.0, (due - now_ms) / 1000))
        if self._uncommitted_records:
            due_s = self._committed_s + self._settings.commit_interval_ms / 1000 - time.monotonic()
            wait_s = min(wait_s, max(0.0, due_s))
        return wait_s

    # Commits

    def _is_time_to_commit(self) -> bool:
        if self._is_rebalancing:
            return False
        if self._uncommitted_records >= _COMMIT_RECORDS or any(run.wants_commit for run in self.table.running.values()):
            return True
        return time.monotonic() - self._committed_s >= self._settings.commit_interval_ms / 1000

    async def _commit(self, runs: Collection[TaskRun]) -> None:
        await self._committing.commit(list(runs))
        self._committed_s = time.monotonic()
        self._uncommitted_records = 0

    def _check_background(self) -> None:
        for task in self._background:
            if task.done():
                task.result()
