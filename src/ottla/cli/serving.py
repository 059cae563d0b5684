"""Runs a node until a signal or a failure ends it: what `ottla broker` and `kafka-server-start` have in common.

SIGTERM and the first Ctrl-C stop the node in order, exit code 0; a second Ctrl-C ends the process at once. A node that
cannot start, or cannot go on, costs 1.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any, Final

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.base.log import IdentityLogger
from ottla.broker.config.rule import check_startable, warnings_of
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from ottla.cli.node.object_count import count_on_signal
from ottla.net import descriptor
from ottla.storage.errors import StorageError

_log: Final = logging.getLogger(__name__)
_INTERRUPTED: Final = 130

Ready = Callable[[Node], None]


def serve(config: ServerConfig, ready: Ready | None = None) -> int:
    """Starts a node, says so, calls `ready`, and waits until it is to end; the exit code."""
    try:
        check_startable(config)
    except ConfigError as error:
        _log.critical("%s", error)
        return 1
    report(config)
    descriptor.raise_limit()
    return asyncio.run(_Service(config, ready).run())


def report(config: ServerConfig) -> None:
    """What an operator should know of the settings before the node starts, a line each."""
    for unknown in config.unknown:
        _log.warning("%s", unknown)
    if config.not_acted_on:
        _log.warning("These settings are accepted, but nothing acts on them: %s", ", ".join(config.not_acted_on))
    for warning in warnings_of(config):
        _log.warning("%s", warning)


class _Service:
    """One node from its start to its end."""

    def __init__(self, config: ServerConfig, ready: Ready | None) -> None:
        self._config: Final = config
        self._ready: Final = ready
        self._log: Final = IdentityLogger(_log, f"KafkaRaftServer nodeId={config.node_id}")
        self._stop_wanted: Final = asyncio.Event()

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._terminated)
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        count_on_signal(loop)
        node = Node(self._config)
        try:
            return await self._serve(node)
        except OttlaError as error:
            self._log.critical("Exiting: %s", error)
            return 1
        finally:
            await node.stop()
            self._log.info("shut down completed")

    async def _serve(self, node: Node) -> int:
        if not await self._unless_stopped(node.start()):
            return 0
        self._log.info("Kafka Server started")
        if self._ready is not None:
            self._ready(node)
        if not await self._unless_stopped(node.wait_failed()):
            return 0
        reason = await node.wait_failed()
        self._log.critical("Exiting: %s", reason.with_remedy if isinstance(reason, StorageError) else reason)
        return 1

    async def _unless_stopped(self, work: Awaitable[object]) -> bool:
        """Whether the work ended by itself; a signal cancels it."""
        task, stop = asyncio.ensure_future(work), asyncio.ensure_future(self._stop_wanted.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
                return True
            return False
        finally:
            await _cancelled(task)
            await _cancelled(stop)

    def _terminated(self) -> None:
        self._log.info("Terminating process due to signal SIGTERM")
        self._stop_wanted.set()

    def _interrupted(self) -> None:
        if self._stop_wanted.is_set():
            os._exit(_INTERRUPTED)
        self._log.info("Terminating process due to signal SIGINT; a second one ends it at once")
        self._stop_wanted.set()


async def _cancelled(task: "asyncio.Future[Any]") -> None:
    """Waits until a task that is not needed any more is gone, whatever it came to."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
