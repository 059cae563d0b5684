"""One node of a cluster: a broker, a controller or both, from its configuration to its last closed file.

The order of the start is: directories locked and identified, the metadata store opened, the quorum joined
(`node_quorum`), then the broker's own start (`broker_role`), and last the HTTP port. Whatever was begun is undone in
the opposite order, when the start fails half way as well as at the stop.
"""

import asyncio
import gc
import logging
import uuid
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from ottla.base.clock import Clock
from ottla.base.collector import settle
from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.base.log import IdentityLogger
from ottla.base.metric import MetricRegistry
from ottla.base.system_clock import SystemClock
from ottla.broker.authentication.node_security import NodeSecurity
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.rule import check_startable
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.broker_role import BrokerRole
from ottla.broker.node.ip_quota import IpQuotas
from ottla.broker.node.listener_set import LISTENER_KEYS, SERVER_LIMIT_KEYS, server_limits
from ottla.broker.node.node_context import Gate, NodeContext
from ottla.broker.node.node_http import http_server
from ottla.broker.node.node_metric import register_broker_metrics, register_controller_metrics, register_quorum_metrics
from ottla.broker.node.node_quorum import NodeQuorum
from ottla.broker.node.node_storage import NodeStorage, open_storage
from ottla.broker.node.start_error import StartError
from ottla.broker.quorum.steady_clock import SteadyClock
from ottla.net.http_server import HttpServer
from ottla.net.poller import Poller
from ottla.replication.schedule.writer_thread import run_on_loop
from ottla.storage.disk.local import LocalDisk
from ottla.storage.disk.port import Disk
from ottla.storage.log_manager_options import LogManagerOptions

_NEVER_MS: Final = 1 << 50
"""A time limit beyond this is none."""
_ROTATION_INTERVAL_S: Final = 300.0
"""How often the quantiles of metrics begin anew."""


class Node:
    """One node. Make it, `start` it once, `stop` it. Everything happens on the loop that starts it."""

    def __init__(
        self,
        config: ServerConfig,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        gate: Gate | None = None,
        is_guest: bool = False,
    ) -> None:
        """`clock` and `disk` stand in for the machine's own, and `gate` before what serves clients.

        A guest shares its process with code that it does not know, and leaves the garbage collector to that.
        """
        self.config = config
        self.metrics = MetricRegistry()
        self._clock = SystemClock() if clock is None else clock
        self._disk = LocalDisk() if disk is None else disk
        self._gate = gate
        self._is_guest = is_guest
        self._log = IdentityLogger(logging.getLogger(__name__), f"KafkaRaftServer nodeId={config.node_id}")
        self._closing = AsyncExitStack()
        self._failed: asyncio.Future[Exception] | None = None
        self._storage: NodeStorage | None = None
        self._quorum: NodeQuorum | None = None
        self._broker: BrokerRole | None = None
        self._http: HttpServer | None = None
        self._rotation: asyncio.TimerHandle | None = None
        self._is_started = False

    @property
    def node_id(self) -> int:
        """The node's number in the cluster."""
        return self.config.node_id

    @property
    def cluster_id(self) -> str:
        """The cluster it belongs to, which its directories tell when it starts."""
        if self._storage is None:
            raise RuntimeError("the node has not started")
        return self._storage.cluster_id

    @property
    def is_healthy(self) -> bool:
        """Whether it can go on."""
        return self._failed is None or not self._failed.done()

    @property
    def is_ready(self) -> bool:
        """Whether it serves those whom it is there for: clients of an unfenced broker, nodes of a quorum."""
        if not self._is_started or self._quorum is None or not self.is_healthy:
            return False
        return self._broker.is_ready if self._broker is not None else self._quorum.member.find_leader() is not None

    async def start(self) -> None:
        """Returns once clients can use the node; `StartError` if they never will, and nothing is held then."""
        self._failed = asyncio.get_running_loop().create_future()
        is_collecting = gc.isenabled() and not self._is_guest
        if is_collecting:
            gc.disable()
        try:
            await self._start_or_fail(self._failed)
        except BaseException as error:
            await self._closing.aclose()
            if isinstance(error, OttlaError) and not isinstance(error, StartError):
                raise StartError(str(error)) from error
            raise
        finally:
            if is_collecting:
                gc.enable()
        if not self._is_guest:
            settle()
        self._is_started = True

    async def stop(self) -> None:
        """Hands over, closes and releases everything; a second call does nothing."""
        is_running, self._is_started = self._is_started, False
        is_controlled = self.config.boolean("controlled.shutdown.enable")
        if is_running and is_controlled and self._broker is not None and self.is_healthy:
            self._log.info("shutting down")
            await self._broker.shut_down()
        await self._closing.aclose()

    async def abandon(self) -> None:
        """Closes and releases everything at once, without the controller's leave: for a node that is given up."""
        self._is_started = False
        await self._closing.aclose()

    async def wait_failed(self) -> Exception:
        """Returns when the node cannot go on, with the reason; then it must be stopped."""
        if self._failed is None:
            raise RuntimeError("the node has not started")
        return await asyncio.shield(self._failed)

    def listener_address(self, name: str) -> tuple[str, int]:
        """The bound address of a listener, with the real port if 0 was configured; `KeyError` if there is none."""
        of_broker = None if self._broker is None else self._broker.listeners
        of_controller = None if self._quorum is None else self._quorum.listeners
        for listeners in (of_broker, of_controller):
            address = None if listeners is None else listeners.address(name)
            if address is not None:
                return address
        raise KeyError(name)

    @property
    def http_address(self) -> tuple[str, int] | None:
        """The address of metrics and health, if they are served."""
        return None if self._http is None else self._http.address

    async def _start_or_fail(self, failed: "asyncio.Future[Exception]") -> None:
        """A node that cannot go on while it starts would wait for ever for what never comes."""
        starting = asyncio.ensure_future(self._start())
        limit_ms = self.config.integer("server.max.startup.time.ms")
        limit_s = limit_ms / 1000 if limit_ms < _NEVER_MS else None
        try:
            await asyncio.wait((starting, failed), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                too_late = f"the start took longer than server.max.startup.time.ms, which is {limit_ms}"
                raise StartError(str(failed.result()) if failed.done() else too_late)
        finally:
            if not starting.done():
                starting.cancel()
                await asyncio.wait((starting,))
        starting.result()

    async def _start(self) -> None:
        check_startable(self.config)
        loop = asyncio.get_running_loop()
        storage = self._storage = await self._open_storage(loop)
        around = self._context(storage, loop)
        schema = BrokerConfigSchema(self.config)
        dynamic = DynamicConfig(self.config, storage.logs, schema)
        dynamic.subscribe(SERVER_LIMIT_KEYS, partial(_limit, around.poller))
        dynamic.check_with(around.security.check_change)
        dynamic.when_written(around.security.rotate)
        quorum = self._join_quorum(around, storage, (dynamic, schema))
        dynamic.subscribe(SERVER_LIMIT_KEYS, self._limit_listeners)
        dynamic.subscribe(LISTENER_KEYS, self._change_listeners)
        # A fault ends the node in neither: quotas and settings stay what they were, and what was missed comes again.
        quorum.member.metadata.add_listener(IpQuotas(around.poller.admission.address_rates))
        if storage.logs is None:
            quorum.member.metadata.add_listener(dynamic)
        else:
            settings = (dynamic, schema)
            broker = self._broker = BrokerRole(around, quorum.member, storage.logs, quorum.channel, settings)
            register_broker_metrics(self.metrics, lambda: broker.state)
            self._closing.push_async_callback(broker.close)
            await broker.start()
        await self._open_http()

    def _limit_listeners(self, changed: ServerConfig) -> None:
        for part in (self._broker, self._quorum):
            if part is not None and part.listeners is not None:
                part.listeners.change_limits(changed)

    def _change_listeners(self, changed: ServerConfig) -> None:
        if self._broker is not None and self._broker.listeners is not None:
            self._broker.listeners.change(changed.broker_listeners, changed)

    async def _open_storage(self, loop: asyncio.AbstractEventLoop) -> NodeStorage:
        config, disk = self.config, self._disk
        options = LogManagerOptions(
            directories=config.log_dirs,
            disk=disk,
            clock=self._clock,
            default_config=config.default_log_config,
            recovery_threads=config.integer("num.recovery.threads.per.data.dir"),
            producer_id_expiration_ms=config.integer("producer.id.expiration.ms"),
            cordoned=frozenset(config.strings("cordoned.log.dirs")),
            appends_always_on_thread=config.string("log.append.thread") == "always",
            run_on_writer=run_on_loop(loop),
        )
        opening = asyncio.ensure_future(asyncio.to_thread(open_storage, config, disk, self._clock, options))
        self._closing.push_async_callback(_release, opening)
        return await asyncio.shield(opening)

    def _context(self, storage: NodeStorage, loop: asyncio.AbstractEventLoop) -> NodeContext:
        poller = Poller(loop, server_limits(self.config))
        self._closing.callback(poller.close)
        return NodeContext(
            config=self.config,
            cluster_id=storage.cluster_id,
            incarnation_id=Uuid(uuid.uuid4().bytes),
            loop=loop,
            clock=self._clock,
            steady_clock=SteadyClock(self._clock),
            disk=self._disk,
            poller=poller,
            security=NodeSecurity(self.config, self._clock.now_ms),
            metrics=self.metrics,
            on_failure=self._fail,
            gate=self._gate,
        )

    def _join_quorum(
        self, around: NodeContext, storage: NodeStorage, settings: tuple[DynamicConfig, BrokerConfigSchema]
    ) -> NodeQuorum:
        quorum = self._quorum = NodeQuorum(around, storage.store, *settings)
        self._closing.push_async_callback(quorum.close)
        register_quorum_metrics(self.metrics, quorum.member)
        controller = quorum.controller
        if controller is not None:
            register_controller_metrics(self.metrics, lambda: controller.is_active, quorum.member.metadata)
        quorum.start()
        self._rotate_metrics()
        self._closing.callback(self._stop_rotation)
        return quorum

    async def _open_http(self) -> None:
        address = self.config.http_listen
        if address is not None:
            http = http_server(address, self.metrics, lambda: self.is_healthy, lambda: self.is_ready)
            await http.start()
            self._closing.push_async_callback(http.close)
            self._http = http

    def _rotate_metrics(self) -> None:
        self.metrics.rotate()
        self._rotation = asyncio.get_running_loop().call_later(_ROTATION_INTERVAL_S, self._rotate_metrics)

    def _stop_rotation(self) -> None:
        if self._rotation is not None:
            self._rotation.cancel()

    def _fail(self, error: Exception) -> None:
        """Reports a fatal failure to the node's owner."""
        if self._failed is not None and not self._failed.done():
            self._log.critical("the node cannot go on: %s", error)
            self._failed.set_result(error)


async def _release(opening: "asyncio.Future[NodeStorage]") -> None:
    """Gives the directories back; a start that is given up has to wait for the thread that opens them."""
    await asyncio.wait((opening,))
    if opening.exception() is None:
        opening.result().release()


def _limit(poller: Poller, changed: ServerConfig) -> None:
    poller.limits = server_limits(changed)
