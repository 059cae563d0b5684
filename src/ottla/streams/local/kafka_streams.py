"""`KafkaStreams` in one process: a topology at work in a thread with an event loop of its own.

The thread starts with `start` and ends with `close`. Listeners and handlers are called in it: they must not wait.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.facade.loop_thread import LoopThread, Pending
from ottla.streams.engine.topology import Topology
from ottla.streams.host.application import Application
from ottla.streams.host.lacking_right import with_right
from ottla.streams.host.run_state import IllegalStateError, RunState
from ottla.streams.lifecycle import Lifecycle
from ottla.streams.local.failure import FailureResponse
from ottla.streams.local.query.place import KeyQueryMetadata, StreamsMetadata
from ottla.streams.local.query.reader import (
    READERS,
    QueryableStoreType,
    StoreQuery,
    StreamsNotRunningError,
    UnknownStateStoreError,
    type_of,
)
from ottla.streams.local.restoration import StateRestoreListener
from ottla.streams.local.setting import LocalSettings
from ottla.streams.local.task_loop import TaskLoop, WorkerPorts
from ottla.streams.local.worker import Worker
from ottla.streams.serving import Serving, served

_log = logging.getLogger(__name__)

UncaughtExceptionHandler = Callable[[Exception], FailureResponse | None]
"""Says what becomes of the instance; None is SHUTDOWN_CLIENT."""


class KafkaStreams(Lifecycle):
    """A topology at work in this process.

    streams = KafkaStreams(builder.build(), {"application.id": "shop", "bootstrap.servers": "localhost:9092"})
    streams.start()
    streams.wait()
    """

    def __init__(self, topology: Topology, config: Mapping[str, Any]) -> None:
        """Reads the settings; `ConfigError` for a bad one. Nothing is connected yet."""
        self._topology: Final = topology
        self._config: Final = dict(config)
        self._settings: Final = LocalSettings.of(config)
        super().__init__(self._settings.application_id)
        self._handler: UncaughtExceptionHandler | None = None
        self._restore_listener = StateRestoreListener()
        self._thread: LoopThread | None = None
        self._work: Pending[None] | None = None
        self._worker: Worker | None = None
        self._serving: Serving | None = None

    @property
    def topology(self) -> Topology:
        return self._topology

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self._config

    @property
    def application(self) -> Application:
        """The application as it is on the cluster: its tasks and topics; known when it has joined its group."""
        found = None if self._worker is None else self._worker.application
        if found is None:
            raise IllegalStateError(f"the cluster has not been looked at: the state is {self._state.value}")
        return found

    def set_uncaught_exception_handler(self, handler: UncaughtExceptionHandler) -> None:
        """Decides what becomes of the instance when a record or the user's code fails; to be set before `start`."""
        self._check_created("set_uncaught_exception_handler")
        self._handler = handler

    def set_global_state_restore_listener(self, listener: StateRestoreListener) -> None:
        """Hears how stores are filled; to be set before `start`."""
        self._check_created("set_global_state_restore_listener")
        self._restore_listener = listener

    def start(self) -> None:
        """Starts it and returns; the state tells how far it is. An instance starts once."""
        self._check_created("start")
        self._serving = served(self, self._config)
        self._move(RunState.REBALANCING)
        self._thread = LoopThread(f"{self._settings.application_id}-StreamThread-1")
        self._work = self._thread.start(self._run())

    def close(self, timeout_s: float | None = None) -> bool:
        """Commits, leaves the group and ends; False: the time was over before."""
        if self._state is RunState.NOT_RUNNING:
            return True
        if self._state is not RunState.PENDING_SHUTDOWN:
            self._move(RunState.PENDING_SHUTDOWN)
        thread, work = self._thread, self._work
        if thread is not None and work is not None:
            if self._worker is not None and thread.is_usable:
                thread.call_soon(self._worker.stop)
            if asyncio._get_running_loop() is thread.loop:
                return False
            try:
                work.result(timeout_s)
            except TimeoutError:
                return False
            thread.close()
        if self._serving is not None:
            self._serving.close()
            self._serving = None
        if self._state is RunState.PENDING_SHUTDOWN:
            self._move(RunState.NOT_RUNNING)
        return True

    def clean_up(self) -> None:
        """Deletes the local state; it is restored from changelogs when the application starts again."""
        self._check_ended()
        shutil.rmtree(self._settings.state_dir, ignore_errors=True)

    def metrics(self) -> dict[str, float]:
        """Counts of this process: records processed, dropped, sent and restored, tasks by kind."""
        return {} if self._worker is None else self._worker.metrics()

    def store(
        self,
        name: str,
        store_type: QueryableStoreType | None = None,
        *,
        partition: int | None = None,
        stale: bool = False,
    ) -> Any:
        """A store of this instance, to be read from any thread: its partitions that are here, or one of them.

        Without a type it is read by its kind, values alone. `stale` allows copies (standbys), which lag behind.
        """
        spec = self._topology.stores.get(name)
        if spec is None:
            raise UnknownStateStoreError(
                f"Cannot get state store {name} because no such store is registered in the topology."
            )
        wanted = store_type or type_of(spec.kind)
        wanted.check(name, spec.kind)
        query = StoreQuery(name, wanted, partition, stale)
        self._in_loop(lambda loop: loop.views(query))
        return READERS[wanted](
            lambda function: self._in_loop(lambda _: function()), lambda: self._task_loop().views(query)
        )

    def query_metadata_for_key(self, store: str, key: Any) -> KeyQueryMetadata:
        """The instance that has a key of a store, and those with copies, by their `application.server`."""
        found: KeyQueryMetadata = self._in_loop(lambda loop: loop.places.of_key(store, key))
        return found

    def streams_metadata_for_store(self, store: str) -> list[StreamsMetadata]:
        """The instances that have partitions of a store."""
        found: list[StreamsMetadata] = self._in_loop(lambda loop: loop.places.of_store(store))
        return found

    def metadata_for_all_streams_clients(self) -> list[StreamsMetadata]:
        """All instances that have an `application.server`."""
        found: list[StreamsMetadata] = self._in_loop(lambda loop: loop.places.all())
        return found

    def _task_loop(self) -> TaskLoop:
        found = None if self._worker is None else self._worker.loop
        if found is None:
            raise StreamsNotRunningError(f"KafkaStreams has to be running; state is {self._state.value}.")
        return found

    def _in_loop(self, function: Callable[[TaskLoop], Any]) -> Any:
        """Runs a function between two turns of the tasks' loop, and returns its result."""
        thread = self._thread
        if self._state not in (RunState.RUNNING, RunState.REBALANCING) or thread is None:
            raise StreamsNotRunningError(f"KafkaStreams is not running. State is {self._state.value}.")

        async def call() -> Any:
            return function(self._task_loop())

        if asyncio._get_running_loop() is thread.loop:
            return function(self._task_loop())
        return thread.run(call())

    async def _run(self) -> None:
        ports = WorkerPorts(self._moved, self._failed, self._restore_listener)
        try:
            self._worker = Worker(self._topology, self._config, self._settings, ports)
            if self._state is RunState.PENDING_SHUTDOWN:
                self._worker.stop()
            await self._worker.run()
        except Exception as error:  # noqa: BLE001  (an edge: the thread of an application, whose owner wants to know)
            self._fail(error)

    def _moved(self, state: RunState) -> None:
        """The worker is in a state; after `close` nothing but the end counts."""
        if self._state in (RunState.REBALANCING, RunState.RUNNING) and self._state is not state:
            self._move(state)

    def _failed(self, error: Exception) -> FailureResponse:
        response = None if self._handler is None else self._handler(error)
        return response or FailureResponse.SHUTDOWN_CLIENT

    def _fail(self, error: Exception) -> None:
        error = with_right(error, self._settings.application_id)
        text = str(error) if isinstance(error, OttlaError) else repr(error)
        _log.error("%s ends: %s", self._settings.application_id, text)
        if self._state is RunState.PENDING_SHUTDOWN:
            return
        self.failure = error
        self._move(RunState.PENDING_ERROR)
        self._move(RunState.ERROR)
