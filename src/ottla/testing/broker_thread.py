"""A broker in a thread of this process, with an event loop of its own."""

import asyncio
import contextlib
import os
import threading
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from enum import Enum, auto
from typing import Final

from ottla.base.ids import Uuid
from ottla.broker.config.loading import SettingSource
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from ottla.metadata.store.format import FormatOptions, format_directories
from ottla.storage.disk.local import LocalDisk
from ottla.storage.meta_properties import read_meta_properties
from ottla.testing.advancing_clock import AdvancingClock
from ottla.testing.advancing_loop import AdvancingLoop
from ottla.testing.fault import Fault, FaultRule
from ottla.testing.fault_gate import FaultGate
from ottla.testing.severable_disk import SeverableDisk

_PLACE: Final = "EmbeddedBroker"


class _End(Enum):
    STOPPED = auto()
    KILLED = auto()


class BrokerThread:
    """See `broker_host.BrokerHost`."""

    def __init__(self, settings: Mapping[str, str], clock: AdvancingClock) -> None:
        """Raises `ConfigLoadError` if the settings are wrong or one of them is unknown."""
        self.pid: Final = os.getpid()
        self._config: Final = _checked(settings)
        self._clock: Final = clock
        self._disk: Final = SeverableDisk()
        self._loop: Final = AdvancingLoop(clock)
        self._gate: Final = FaultGate(self._loop)
        self._end: Final = self._loop.create_future()
        self._started: Final[Future[list[tuple[str, int]]]] = Future()
        self._thread: Final = threading.Thread(target=self._run, name="ottla-embedded-broker", daemon=True)

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither ended nor failed since."""
        return self._thread.is_alive()

    def start(self) -> list[tuple[str, int]]:
        """See `BrokerHost`."""
        self._thread.start()
        try:
            return self._started.result()
        except BaseException:
            # It could not start, or its caller has stopped waiting.
            self.kill()
            raise

    def stop(self) -> None:
        """See `BrokerHost`."""
        self._end_with(self._stop)

    def kill(self) -> None:
        """See `BrokerHost`. What this is, and what it is not: `EmbeddedBroker.kill`."""
        self._end_with(self._kill)

    def advance(self, seconds: float) -> None:
        """See `BrokerHost`."""
        asyncio.run_coroutine_threadsafe(self._loop.advance(seconds), self._loop).result()

    def add_fault(self, rule: FaultRule) -> Fault:
        """See `BrokerHost`."""
        active = self._gate.add(rule)
        return Fault(rule, lambda: active.hits)

    def clear_faults(self) -> None:
        """See `BrokerHost`."""
        self._gate.clear()

    def _end_with(self, how: Callable[[], None]) -> None:
        if self.is_running:
            # A loop that is closed by now has ended by itself.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(how)
            self._thread.join()

    # On the thread

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        node = Node(self._config, clock=self._clock, disk=self._disk, gate=self._gate.guard, is_guest=True)
        starting = asyncio.ensure_future(self._start(node))
        await asyncio.wait((starting, self._end), return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.wait((starting,))
            return
        error = starting.exception()
        if error is not None:
            self._started.set_exception(error)
            return
        self._started.set_result([node.listener_address(found.name) for found in self._config.broker_listeners])
        failing = asyncio.ensure_future(node.wait_failed())
        await asyncio.wait((self._end, failing), return_when=asyncio.FIRST_COMPLETED)
        failing.cancel()
        if self._end.done() and self._end.result() is _End.KILLED:
            await node.abandon()
        else:
            await node.stop()

    async def _start(self, node: Node) -> None:
        _format_once(self._config, self._clock)
        await node.start()

    def _stop(self) -> None:
        if not self._end.done():
            self._end.set_result(_End.STOPPED)

    def _kill(self) -> None:
        """Does it in one turn of the loop, so that no client is answered by a broker whose disk is gone."""
        if not self._end.done():
            self._disk.sever()
            self._gate.cut()
            self._end.set_result(_End.KILLED)


def _checked(settings: Mapping[str, str]) -> ServerConfig:
    source = SettingSource(_PLACE)
    for key, value in settings.items():
        source.add(key, value, place=_PLACE)
    return source.config(strict=True)


def _format_once(config: ServerConfig, clock: AdvancingClock) -> None:
    disk = LocalDisk()
    if read_meta_properties(disk, config.metadata_log_dir) is not None:
        return
    options = FormatOptions(
        cluster_id=str(Uuid(uuid.uuid4().bytes)),
        node_id=config.node_id,
        directories=sorted({*config.log_dirs, config.metadata_log_dir}),
        metadata_directory=config.metadata_log_dir,
    )
    format_directories(disk, options, random_bytes=os.urandom, now_ms=clock.now_ms())
