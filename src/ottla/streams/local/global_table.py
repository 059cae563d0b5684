"""Global tables: a copy of whole topics in each process, complete before a task runs, and followed from then on.

The copy lies in the state directory; where another process has that one, a process keeps its copy in memory.
"""

import asyncio
import fcntl
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.record import TopicPartition
from ottla.streams.engine.error_handler import OutputRecord
from ottla.streams.engine.store.spec import LoggedChange, StoreSpec
from ottla.streams.engine.store.state_map import MemoryMap, StateMap
from ottla.streams.engine.task import Task, TaskPlan
from ottla.streams.host.application import Application
from ottla.streams.state.errors import StateMismatchError
from ottla.streams.state.local_state import LocalState, StateBatch, remove_state

_log = logging.getLogger(__name__)

_KEEP_S: Final = 5.0
_POLL_S: Final = 0.25
_BYTES_MAX: Final = 1 << 36


class _Host:
    """Bytes, and nothing else: a global table writes to no topic."""

    def __init__(self, batch: StateBatch | None) -> None:
        self._batch = batch
        self._memory: dict[str, MemoryMap] = {}

    def state_map(self, store: StoreSpec) -> StateMap:
        """The bytes of a store."""
        if self._batch is not None and store.persistent:
            return self._batch.map(store.name)
        return self._memory.setdefault(store.name, MemoryMap())

    def log_change(self, store: str, change: LoggedChange) -> None:
        """The topic is the changelog."""

    def send(self, record: OutputRecord) -> None:
        """There is nothing to send."""

    def partition_count(self, topic: str) -> int:
        """Never called: a global table has no sinks."""
        return 1

    def wall_clock_ms(self) -> int:
        """The time."""
        return time.time_ns() // 1_000_000

    def request_commit(self) -> None:
        """Does nothing: the state is committed at intervals."""


class GlobalTables:
    """The global tables of one process."""

    def __init__(self, application: Application, consumer: AsyncConsumer, state_dir: Path) -> None:
        self._application: Final = application
        self._consumer: Final = consumer
        self._path: Final = state_dir / "global"
        self._lock: int | None = None
        self._state: LocalState | None = None
        self._batch: StateBatch | None = None
        self._task: Task | None = None
        self._kept_s = time.monotonic()
        self._unkept = 0

    @property
    def dropped_records(self) -> int:
        """Records that were left out."""
        return 0 if self._task is None else self._task.dropped_records

    async def load(self) -> Mapping[str, Any]:
        """The stores by name, complete up to now."""
        application = self._application
        if not application.global_nodes:
            return {}
        self._open()
        plan = TaskPlan(
            application.topology,
            application.global_nodes,
            application.application_id,
            "global",
            application.configuration,
        )
        self._task = Task(plan, _Host(self._batch))
        self._task.open()
        places = [
            TopicPartition(topic, number)
            for topic in application.global_topics
            for number in range(application.counts[topic])
        ]
        await self._catch_up(places)
        return {name: self._task.raw_store(name) for name in application.topology.global_sources.values()}

    async def follow(self) -> None:
        """Goes on reading, until it is cancelled."""
        while self._task is not None:
            await self._take()
            await asyncio.sleep(0)

    def store(self, name: str) -> Any:
        """A store as readers see it; None if it is no global one."""
        is_global = name in self._application.topology.global_sources.values()
        return self._task.store(name) if self._task is not None and is_global else None

    def close(self) -> None:
        """Keeps what was read, and ends."""
        if self._task is not None:
            self._task.close()
            self._keep()
        if self._batch is not None:
            self._batch.abort()
        if self._state is not None:
            self._state.close()
        if self._lock is not None:
            os.close(self._lock)
        self._task = self._batch = self._state = self._lock = None

    async def _catch_up(self, places: list[TopicPartition]) -> None:
        consumer = self._consumer
        consumer.assign(places)
        first = await consumer.beginning_offsets(places)
        end = await consumer.end_offsets(places)
        kept = {} if self._batch is None else self._batch.position
        for place in places:
            consumer.seek(place, max(kept.get(str(place), 0), first[place]))
        while any(consumer.positions().get(place, 0) < end[place] for place in places):
            await self._take()
        self._keep()

    async def _take(self) -> None:
        assert self._task is not None
        records = await self._consumer.poll(_POLL_S)
        for found in records.by_partition().values():
            self._task.process(found)  # type: ignore[arg-type]  # a client's record has an input record's fields
        self._unkept += len(records)
        if self._unkept and time.monotonic() - self._kept_s > _KEEP_S:
            self._keep()

    def _keep(self) -> None:
        self._unkept, self._kept_s = 0, time.monotonic()
        if self._state is not None and self._batch is not None:
            position = {str(place): offset for place, offset in self._consumer.positions().items()}
            self._state.commit_and_go_on(self._batch, position, {}, can_be_undone=False)

    def _open(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._path / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _log.warning("another process has %s: global tables are kept in memory", self._path)
            return
        identity = f"{self._application.application_id} global {','.join(self._application.global_topics)}"
        try:
            self._state = LocalState(self._path / "state", identity, bytes_max=_BYTES_MAX)
        except StateMismatchError as error:
            _log.warning("%s: it is made anew", error)
            remove_state(self._path / "state")
            self._state = LocalState(self._path / "state", identity, bytes_max=_BYTES_MAX)
        self._batch = self._state.begin_behind()
