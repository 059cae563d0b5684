"""The life of a process: one after the other in the group, until it is stopped or cannot go on.

What goes wrong with the cluster makes it let go of everything and join again, from what is committed; what goes wrong
with a record or in the user's code is the handler's to decide.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.consumer.membership import ListenerError
from ottla.streams.engine.topology import Topology
from ottla.streams.host.application import Application
from ottla.streams.host.run_state import RunState
from ottla.streams.local.cluster_clients import ClusterClients
from ottla.streams.local.failure import FailureResponse, is_passing
from ottla.streams.local.preparation import Preparation
from ottla.streams.local.process_identity import ProcessIdentity
from ottla.streams.local.setting import LocalSettings
from ottla.streams.local.task_loop import ApplicationShutdownError, TaskLoop, WorkerPorts
from ottla.streams.state.errors import StateUnwritableError

_log = logging.getLogger(__name__)

_AGAIN_S: Final = 0.5
_AGAIN_S_MAX: Final = 30.0
"""How long it waits for a disk that stays full: others have its tasks meanwhile."""


class Worker:
    """Runs until `stop`; made and used in one event loop."""

    def __init__(
        self, topology: Topology, config: Mapping[str, Any], settings: LocalSettings, ports: WorkerPorts
    ) -> None:
        self._settings: Final = settings
        self._ports: Final = ports
        self._preparation: Final = Preparation(topology, config, settings)
        self._identity: Final = ProcessIdentity(settings.state_dir)
        self._clients: Final = ClusterClients(settings, self._identity.id)
        self._is_stopping = False
        self._loop: TaskLoop | None = None
        self._pause_s = _AGAIN_S

    @property
    def process_id(self) -> str:
        """The id of this process among those of the application."""
        return self._identity.id

    @property
    def application(self) -> Application | None:
        """The application, once the cluster was looked at."""
        return None if self._loop is None else self._loop.application

    @property
    def loop(self) -> TaskLoop | None:
        """The present membership in the group, if there is one."""
        return self._loop

    def metrics(self) -> dict[str, float]:
        """The counters since it joined."""
        return {} if self._loop is None else self._loop.metrics()

    def stop(self) -> None:
        """Ends `run` after the turn that is under way."""
        self._is_stopping = True
        if self._loop is not None:
            self._loop.wake()

    async def run(self) -> None:
        """Works until it is stopped; raises what it cannot go on with."""
        try:
            while not self._is_stopping:
                try:
                    await self._work()
                except Exception as error:  # noqa: BLE001  (an edge: the handler of the application decides)
                    await self._recover(_cause(error))
            await self._close()
        finally:
            await self._close(is_clean=False)
            self._identity.close()

    async def _work(self) -> None:
        if self._loop is None:
            self._ports.moved(RunState.REBALANCING)
            clients = self._clients
            await clients.start()
            application = await self._preparation.prepare(clients.admin)
            self._loop = TaskLoop(application, self._settings, clients, self._ports, self._preparation.counts)
            await self._loop.start()
            if self._preparation.watch is not None:
                self._loop.run_beside(self._preparation.watch.run(), "topics")
        while not self._is_stopping:
            await self._loop.turn()

    async def _recover(self, error: Exception) -> None:
        """Lets go of everything, and joins again unless that is of no use."""
        if isinstance(error, ApplicationShutdownError):
            # The handler of the instance that failed has decided for all.
            raise error
        if not is_passing(error):
            response = self._ports.failed(error)
            if response is FailureResponse.SHUTDOWN_APPLICATION and self._loop is not None:
                await self._loop.shut_down_all()
            if response is not FailureResponse.REPLACE_THREAD:
                raise error
        _log.warning("%s begins again from what is committed: %s", self._settings.application_id, error)
        await self._close(is_clean=False)
        await self._pause(is_longer=isinstance(error, StateUnwritableError))

    async def _pause(self, *, is_longer: bool) -> None:
        """Before it joins again; longer each time while a disk stays full, unless it is stopped."""
        self._pause_s = min(self._pause_s * 2, _AGAIN_S_MAX) if is_longer else _AGAIN_S
        left_s = self._pause_s
        while left_s > 0 and not self._is_stopping:
            await asyncio.sleep(min(left_s, _AGAIN_S))
            left_s -= _AGAIN_S

    async def _close(self, *, is_clean: bool = True) -> None:
        """Lets go of everything; what cannot be ended in order is ended all the same."""
        loop, self._loop = self._loop, None
        try:
            if loop is not None:
                await loop.close(is_clean=is_clean)
        except OttlaError as error:
            _log.warning("%s did not end in order: %s", self._settings.application_id, error)
        finally:
            await self._clients.close()


def _cause(error: Exception) -> Exception:
    """A rebalance listener's own error, which `poll` wraps."""
    if isinstance(error, ListenerError) and isinstance(error.__cause__, Exception):
        return error.__cause__
    return error
