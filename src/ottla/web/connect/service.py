"""One Connect worker: topics, reader, membership, leader and HTTP server, started in order and stopped in order.

Reads are answered from this worker's own tables. A request that changes something is done here if this worker leads,
else passed on to the one that does; the answer waits until this worker's tables have it as well.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol

from ottla.base.errors import OttlaError
from ottla.base.log_limit import repeatable
from ottla.base.metric import MetricRegistry
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.connect.plugin import Plugins
from ottla.connect.worker.config_record import Properties
from ottla.connect.worker.refusal import RefusedError
from ottla.connect.worker.task_status import Reporter
from ottla.connect.worker.validation import check_valid
from ottla.web.connect.api.connector import ConnectorApi, validated
from ottla.web.connect.api.internal import InternalApi
from ottla.web.connect.api.logger import LoggerApi
from ottla.web.connect.api.offset import OffsetApi
from ottla.web.connect.api.plugin import PluginApi
from ottla.web.connect.api.root import RootApi
from ottla.web.connect.api.target import TargetApi
from ottla.web.connect.config import DEFAULT_LISTENER, ConnectConfig
from ottla.web.connect.context import ConnectContext
from ottla.web.connect.lead.leader import NO_LEADER, Leader
from ottla.web.connect.store.reader import TopicReader
from ottla.web.connect.store.topic import ensure_topics, topics_of
from ottla.web.connect.store.writer import TopicWriter
from ottla.web.election.identity import Identity
from ottla.web.election.membership import GroupOptions, Membership
from ottla.web.http.address import ListenAddress
from ottla.web.http.answer import Answer
from ottla.web.http.application import ApplicationOptions, ShellApplication
from ottla.web.http.config import ShellConfig
from ottla.web.http.content import ContentTypes
from ottla.web.http.health import health_routes
from ottla.web.http.login import login_of
from ottla.web.http.peer import FORWARDED, PeerClient, PeerOptions, PeerUnreachableError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.http.server import HttpServer
from ottla.web.http.tls import peer_context

_log: Final = logging.getLogger(__name__)
_START_LIMIT_S: Final = 60.0
_PAUSE_S: Final = 0.5
_AWAY: Final = repeatable("cluster")
_WRITE_MS: Final = 30_000
_KNOWN_S: Final = 20.0
_PEER_S: Final = 100.0


class Api(Protocol):
    """A group of endpoints."""

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        ...


class ConnectService:
    """One worker."""

    def __init__(self, config: ConnectConfig, given: Mapping[str, str]) -> None:
        settings = config.settings
        self.metrics: Final = MetricRegistry()
        self._config: Final = config
        self._given: Final = given
        self._shell: Final = ShellConfig.of(settings, DEFAULT_LISTENER)
        self._admin: Final = AsyncAdmin({"default.api.timeout.ms": 15_000, **config.client})
        self._reader: Final = TopicReader(config.client, self._admin)
        self._writer: Final = TopicWriter(config.client, self._reader, _WRITE_MS)
        self._leader: Final = Leader(config, Plugins(), self._reader, self._writer, self._reporter)
        self._context: Final = ConnectContext(config, self._leader, self._admin, self._change)
        self._loggers: Final = LoggerApi(self._context)
        self._peers: Final = PeerClient(PeerOptions(_PEER_S, _PEER_S, peer_context(settings)))
        self._membership: Membership | None = None
        self._server: HttpServer | None = None
        self._watch: asyncio.Task[None] | None = None
        self._is_ready = False

    @property
    def addresses(self) -> list[ListenAddress]:
        """The addresses for clients."""
        return [] if self._server is None else self._server.addresses

    @property
    def worker_id(self) -> str:
        """`host:port` by which other workers reach it."""
        address = self._config.advertised(self.addresses)
        return f"{address.host}:{address.port}"

    async def start(self) -> None:
        """Waits for the cluster, reads the topics, listens, and takes part in the election. Raises `OttlaError`."""
        settings = self._config.settings
        topics = await self._find_cluster()
        self._reader.start(topics)
        await self._read_all()
        self._loggers.take(self._context.tables.configs.logger_levels)
        options = ApplicationOptions(
            self._shell.body_limits,
            settings.integer("request.timeout.ms") / 1000,
            login_of(settings),
            settings.boolean("access.log.enable"),
        )
        application = ShellApplication(self._routes(), ContentTypes(), self.metrics, options)
        self._server = HttpServer(application, self._shell)
        await self._server.start()
        self._membership = self._member()
        self._membership.start()
        self._leader.start()
        self._watch = asyncio.get_running_loop().create_task(self._watch_loggers())
        self._is_ready = True

    async def stop(self) -> None:
        """Answers what is under way, gives the lead up, and ends."""
        self._is_ready = False
        if self._server is not None:
            await self._server.stop()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        await self._leader.stop()
        if self._membership is not None:
            await self._membership.stop()
        await self._writer.close()
        await self._reader.stop()
        await self._admin.close()
        self._peers.close()

    async def check(self, config: Properties) -> None:
        """Refuses a configuration that is not valid."""
        check_valid(await validated(self._context, config))

    @property
    def offsets(self) -> dict[bytes, bytes | None]:
        """All sources' offsets, as records of their topic."""
        return self._context.tables.offsets.records()

    async def catch_up(self) -> None:
        """Reads the topics to their ends. Raises `OttlaError`, also if that takes too long."""
        await self._read_all()

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[Leader]:
        """The leader's part, once this worker leads."""
        membership = self._membership
        if membership is None or not await membership.wait_known(_START_LIMIT_S) or not membership.is_primary:
            raise OttlaError(f"another worker leads the group {self._config.settings.string('group.id')}")
        async with self._leader.leading():
            yield self._leader

    def _routes(self) -> list[Route]:
        context = self._context
        apis: list[Api] = [
            RootApi(context, self._trouble),
            ConnectorApi(context),
            TargetApi(context),
            OffsetApi(context),
            PluginApi(context),
            InternalApi(context),
        ]
        routes: list[Route] = [*health_routes(self.metrics, lambda: self._trouble() is None)]
        for api in apis:
            routes += api.routes()
        if self._config.serves_loggers:
            routes += self._loggers.routes()
        return routes

    async def _find_cluster(self) -> dict[str, int]:
        """The topics, made if need be; brokers that are not up yet are waited for."""
        deadline = asyncio.get_running_loop().time() + _START_LIMIT_S
        while True:
            try:
                await self._admin.start(timeout_ms=1_000)
                self._context.cluster_id = (await self._admin.describe_cluster()).cluster_id
                return await ensure_topics(self._admin, topics_of(self._config, self._given))
            except OttlaError as error:
                if not getattr(error, "retriable", False):
                    raise
                if asyncio.get_running_loop().time() > deadline:
                    raise OttlaError(f"the cluster did not answer within {_START_LIMIT_S:g} s: {error}") from None
                _log.warning("The cluster does not answer yet: %s", " ".join(str(error).split()), extra=_AWAY)
            await asyncio.sleep(_PAUSE_S)

    async def _read_all(self) -> None:
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                await self._reader.catch_up()
        except TimeoutError:
            because = f": {self._reader.trouble}" if self._reader.trouble else ""
            raise OttlaError(f"the worker's topics were not read within {_START_LIMIT_S:g} s{because}") from None

    async def _change(self, request: Request, act: Callable[[Leader], Awaitable[Answer]]) -> Answer:
        for _ in range(2):
            membership = self._membership
            if membership is None or not await membership.wait_known(_KNOWN_S):
                break
            primary = membership.primary
            if membership.is_primary:
                async with self._leader.leading():
                    return await act(self._leader)
            if FORWARDED in request.headers:
                break
            if primary is not None:
                return await self._forward(primary, request)
        raise RefusedError(409, NO_LEADER)

    async def _forward(self, primary: Identity, request: Request) -> Answer:
        try:
            answer = await self._peers.forward(primary.url, request)
        except PeerUnreachableError as error:
            _log.warning("The leader did not answer: %s", error)
            raise RefusedError(409, f"{NO_LEADER} ({error})") from None
        async with asyncio.timeout(_KNOWN_S):
            await self._reader.catch_up()
        return answer

    def _member(self) -> Membership:
        settings = self._config.settings
        options = GroupOptions(
            settings.string("group.id"),
            settings.integer("session.timeout.ms"),
            settings.integer("heartbeat.interval.ms"),
            settings.integer("rebalance.timeout.ms"),
            "connect",
            "ottla",
        )
        address = self._config.advertised(self.addresses)
        member = Membership(self._config.client, options, Identity(address.host, address.port, True, address.scheme))
        member.on_elected = self._leader.resign
        member.before_joining = self._leader.quiet
        return member

    def _reporter(self) -> Reporter | None:
        membership = self._membership
        if membership is None or not membership.is_primary:
            return None
        return Reporter(self.worker_id, membership.generation)

    def _trouble(self) -> str | None:
        if not self._is_ready:
            return ""
        return None if self._reader.trouble is None else f"The worker's topics can't be read: {self._reader.trouble}"

    async def _watch_loggers(self) -> None:
        """Acts on levels that are set for the whole cluster."""
        while True:
            seen = self._reader.version
            self._loggers.take(self._context.tables.configs.logger_levels)
            await self._reader.changed(seen, 60.0)
