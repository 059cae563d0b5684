"""The worker that leads: brings tasks, pipelines and statuses in line with the config topic, again and again.

Everything that writes holds one lock, so a request is decided on what the ones before it led to. Invariant: a worker
writes only while it holds the lease of the group, and only after it has read to the end what others wrote before.
"""

import asyncio
import base64
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.connect.plugin import Plugins
from ottla.connect.worker.config_record import Properties, Record, SessionKey, TargetState, session_key
from ottla.connect.worker.decision import task_changes
from ottla.connect.worker.pipeline import ConnectorPlan, next_spec, pipeline_name, prefix_of
from ottla.connect.worker.refusal import RefusedError
from ottla.connect.worker.status_record import ActiveTopic, State, active_topic
from ottla.connect.worker.task_status import (
    Report,
    Reporter,
    connector_state,
    removals,
    status_changes,
    task_states,
)  # fmt: skip
from ottla.web.connect.config import ConnectConfig
from ottla.web.connect.lead.instance import ClassFacts, Instance, facts_of
from ottla.web.connect.store.reader import TopicReader
from ottla.web.connect.store.table import Tables
from ottla.web.connect.store.writer import TopicWriter

_log: Final = logging.getLogger(__name__)
_TICK_S: Final = 1.0
_PAUSE_S: Final = 0.5
NO_LEADER: Final = (
    "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
)


class Leader:
    """The part of a worker that acts while it leads."""

    def __init__(
        self, config: ConnectConfig, plugins: Plugins, reader: TopicReader, writer: TopicWriter,
        reporter: Callable[[], Reporter | None],
    ) -> None:  # fmt: skip
        """`reporter` says who writes; None while this worker does not lead."""
        self._config: Final = config
        self._plugins: Final = plugins
        self._reader: Final = reader
        self._writer: Final = writer
        self._reporter: Final = reporter
        self._lock: Final = asyncio.Lock()
        self._instances: Final[dict[str, Instance]] = {}
        self._known: Final[dict[str, ClassFacts]] = {}
        self._is_current = False
        self._task: asyncio.Task[None] | None = None
        settings = config.settings
        self._topics: Final = {
            name: settings.string(f"{name}.storage.topic") for name in ("config", "offset", "status")
        }
        self._specs_topic: Final = settings.string("pipelines.specs.topic")
        self._group: Final = settings.string("group.id")
        self._call_s: Final = settings.integer("connector.call.timeout.ms") / 1000
        self._end_s: Final = settings.integer("task.shutdown.graceful.timeout.ms") / 1000
        self._told: Final[dict[str, str]] = {}

    @property
    def tables(self) -> Tables:
        """The present state."""
        return self._reader.tables

    def start(self) -> None:
        """Begins to act, whenever this worker leads."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Ends all connectors."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        await self._let_go()

    def resign(self) -> None:
        """Another worker may write: before the next write, all is read again to its end."""
        self._is_current = False

    async def quiet(self) -> None:
        """Waits until nothing is being written."""
        async with self._lock:
            pass

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[Reporter]:
        """The right to write, for as long as it is held. Raises `RefusedError` 409 if this worker does not lead."""
        async with self._lock:
            yield await self._ready()

    async def write(self, kind: str, records: list[Record]) -> None:
        """Writes records of a topic, `config`, `offset` or `status`; to be called while leading."""
        self._check()
        await self._writer.write(self._topics[kind], records)

    def spec(self, name: str) -> Mapping[str, Any] | None:
        """The spec of a connector's pipeline."""
        return self.tables.specs.values.get(pipeline_name(self._group, name))

    def pipeline(self, name: str) -> Mapping[str, Any] | None:
        """The runners' status of a connector's pipeline."""
        return self.tables.pipelines.values.get(pipeline_name(self._group, name))

    async def write_spec(self, name: str, spec: Mapping[str, Any] | None) -> None:
        """Writes the spec of a connector's pipeline; None removes it. To be called while leading."""
        await self._write_spec(pipeline_name(self._group, name), spec)

    async def forget(self, name: str) -> None:
        """Ends a connector, so that it is started anew."""
        instance = self._instances.pop(name, None)
        if instance is not None:
            # Nothing else is decided meanwhile, so one that hangs is left behind soon.
            await instance.stop(self._end_s)

    async def _run(self) -> None:
        while True:
            seen = self._reader.version
            try:
                if self._reporter() is not None:
                    async with self.leading() as reporter:
                        await self._round(reporter)
                elif self._instances:
                    await self._let_go()
            except RefusedError:
                self._is_current = False
            except (OttlaError, TimeoutError) as error:
                _log.warning("Connectors can't be looked after right now: %s", error)
                await asyncio.sleep(_PAUSE_S)
            await self._reader.changed(seen, _TICK_S)

    async def _let_go(self) -> None:
        for name in list(self._instances):
            await self.forget(name)

    async def _ready(self) -> Reporter:
        reporter = self._reporter()
        if reporter is None:
            raise RefusedError(409, NO_LEADER)
        if not self._is_current:
            await self._reader.catch_up()
            self._is_current = True
            if self.tables.configs.session_key is None:
                made = SessionKey(base64.b64encode(os.urandom(32)).decode(), "HmacSHA256", time.time_ns() // 1_000_000)
                await self.write("config", [session_key(made)])
        return reporter

    def _check(self) -> None:
        if self._reporter() is None:
            self._is_current = False
            raise RefusedError(409, NO_LEADER)

    async def _round(self, reporter: Reporter) -> None:
        for name in self.tables.configs.connectors:
            try:
                await self._plan(name)
                await self._tell_runner(name)
                await self._tell_users(name, reporter)
                self._told.pop(name, None)
            except (OttlaError, TimeoutError):
                raise
            except Exception as error:  # noqa: BLE001 - an edge: what one connector says must not stop the others
                self._tell_once(name, error)
        await self._clean()

    def _tell_once(self, name: str, error: Exception) -> None:
        """Logs why a connector can't be looked after; not again as long as it stays so."""
        reason = f"{type(error).__name__}: {error}"
        if self._told.get(name) != reason:
            self._told[name] = reason
            _log.error("The connector %s can't be looked after", name, exc_info=error)

    async def _plan(self, name: str) -> None:
        """Has the tasks of a connector made, and written down when they are others."""
        state = self.tables.configs
        config = state.config(name)
        instance = self._instances.get(name)
        if instance is not None and (state.target(name) is not TargetState.STARTED or instance.config != config):
            await self.forget(name)
            instance = None
        if state.target(name) is TargetState.STOPPED:
            await self.write("config", task_changes(state, name, []))
        if state.target(name) is not TargetState.STARTED or config is None:
            return
        if instance is None:
            instance = Instance(name, config, self._plugins, self._config.providers)
            self._instances[name] = instance
        instance.look(self._call_s)
        if instance.tasks is not None and instance.failure is None:
            await self.write("config", task_changes(state, name, list(instance.tasks)))

    async def _tell_runner(self, name: str) -> None:
        state = self.tables.configs
        config = state.config(name)
        if config is None:
            return
        foreign = self._facts(config).is_foreign
        plan = ConnectorPlan(config, state.tasks(name) or [], state.target(name), foreign, self._config.owner)
        spec = next_spec(self.spec(name), plan, self._config.worker)
        if spec is not None:
            await self.write_spec(name, spec)

    async def _tell_users(self, name: str, reporter: Reporter) -> None:
        state, table = self.tables.configs, self.tables.statuses
        config: Properties = state.config(name) or {}
        instance = self._instances.get(name)
        report = Report(
            state.target(name),
            self._facts(config).version,
            state.task_count(name),
            None if instance is None else instance.failure,
            self.spec(name),
            self.pipeline(name),
        )
        connector = connector_state(report, reporter)
        if state.target(name) is TargetState.STARTED and (instance is None or instance.tasks is None):
            # It is about to start; what is known of an earlier run stays until then.
            connector = connector if report.failure is not None else table.connector(name) or connector
            if connector.state not in (State.FAILED, State.RUNNING):
                connector = connector_state(report, reporter)
        await self.write("status", status_changes(name, connector, task_states(report, reporter), table))
        await self.write("status", self._topics_found(name, report))

    def _topics_found(self, name: str, report: Report) -> list[Record]:
        if not self._config.settings.boolean("topic.tracking.enable"):
            return []
        known = self.tables.statuses.topics(name)
        found = {
            str(topic): int(part.get("id") or 0)
            for part in (report.status or {}).get("parts") or ()
            for topic in part.get("topics") or ()
        }
        now_ms = time.time_ns() // 1_000_000
        return [
            active_topic(ActiveTopic(topic, name, task, now_ms)) for topic, task in found.items() if topic not in known
        ]

    async def _clean(self) -> None:
        """Removes what is left of connectors that are gone."""
        tables = self.tables
        for name in [each for each in self._instances if each not in tables.configs]:
            await self.forget(name)
        for name in [each for each in tables.statuses.connectors if each not in tables.configs]:
            await self.write("status", removals(name, tables.statuses))
        wanted = {pipeline_name(self._group, name) for name in tables.configs.connectors}
        prefix = prefix_of(self._group)
        for pipeline in [each for each in tables.specs.values if each.startswith(prefix) and each not in wanted]:
            await self._write_spec(pipeline, None)

    async def _write_spec(self, pipeline: str, spec: Mapping[str, Any] | None) -> None:
        self._check()
        value = None if spec is None else _json(spec)
        await self._writer.write(self._specs_topic, [(pipeline.encode(), value)])

    def _facts(self, config: Properties) -> ClassFacts:
        name = str(config.get("connector.class") or "")
        if name not in self._known:
            found = facts_of(name, self._plugins)
            if found.version is None:
                return found  # it may be installed later
            self._known[name] = found
        return self._known[name]


def _json(spec: Mapping[str, Any]) -> bytes:
    return json.dumps(spec, ensure_ascii=False).encode()
