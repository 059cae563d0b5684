"""One instance of the registry: reader, writer, membership and HTTP server, started in order and stopped in order.

Reads are answered from this instance's own state. A write is decided here if this instance is the primary, else passed
on to the one that is; the answer waits until this instance's reader has seen it as well.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Final, TypeVar

from ottla.base.collector import collector_off
from ottla.base.errors import OttlaError
from ottla.base.log_limit import repeatable
from ottla.base.metric import MetricRegistry
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.web.election.identity import Identity
from ottla.web.election.membership import GroupOptions, Membership
from ottla.web.http.address import ListenAddress
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.application import ApplicationOptions, ShellApplication
from ottla.web.http.config import ShellConfig
from ottla.web.http.description import description_route
from ottla.web.http.health import health_routes
from ottla.web.http.login import login_of
from ottla.web.http.peer import FORWARDED, PeerClient, PeerOptions, PeerUnreachableError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.http.server import HttpServer
from ottla.web.http.tls import peer_context
from ottla.web.registry.api.content import CONTENT
from ottla.web.registry.api.description import description
from ottla.web.registry.api.route import registry_routes
from ottla.web.registry.config import DEFAULT_LISTENER, RegistryConfig
from ottla.web.registry.decision.errors import forwarding_failed, leader_unknown
from ottla.web.registry.decision.outcome import Outcome
from ottla.web.registry.decision.parsing import ParsedSchemas
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.store.reader import LogReader
from ottla.web.registry.store.topic import FORBIDDEN, ensure_topic, not_allowed
from ottla.web.registry.store.writer import LogWriter

_log: Final = logging.getLogger(__name__)
_OFFSET: Final = "x-ottla-offset"
_PAUSE_S: Final = 0.5
_AWAY: Final = repeatable("cluster")
_START_MS: Final = 1_000
_ASK_MS: Final = 10_000
T = TypeVar("T")


class RegistryService:
    """One instance."""

    def __init__(self, config: RegistryConfig) -> None:
        settings = config.settings
        self.metrics: Final = MetricRegistry()
        self.cluster_id = ""
        self.group_id: Final = settings.string("schema.registry.group.id")
        self.rule: Final = RegistryRule(
            ParsedSchemas(settings.integer("schema.cache.size")),
            config.default_level,
            settings.boolean("mode.mutability"),
            settings.boolean("schema.validate.new.schemas"),
        )
        self._config: Final = config
        self._shell: Final = ShellConfig.of(settings, DEFAULT_LISTENER)
        self._topic: Final = settings.string("kafkastore.topic")
        self._timeout_s: Final = settings.integer("kafkastore.timeout.ms") / 1000
        self._reader: Final = LogReader(self._topic, config.client)
        self._writer: Final = LogWriter(
            self._topic, config.client, self._reader, self._may_write, settings.integer("kafkastore.timeout.ms")
        )
        self._peers: Final = PeerClient(
            PeerOptions(
                settings.integer("leader.connect.timeout.ms") / 1000,
                settings.integer("leader.read.timeout.ms") / 1000,
                peer_context(settings),
            )
        )
        self._membership: Membership | None = None
        self._server: HttpServer | None = None
        self._is_loaded = False
        self._trouble: OttlaError | None = None

    @property
    def state(self) -> RegistryState:
        """This instance's present state."""
        return self._reader.state

    @property
    def addresses(self) -> list[ListenAddress]:
        """The addresses for clients."""
        return [] if self._server is None else self._server.addresses

    async def start(self) -> None:
        """Loads the topic, listens, and takes part in the election. Raises `OttlaError`."""
        self._reader_metrics()
        limit_s = self._config.settings.integer("kafkastore.init.timeout.ms") / 1000
        try:
            # A large topic makes a great many objects that stay: the collector would double the time.
            with collector_off():
                async with asyncio.timeout(limit_s):
                    await self._prepare()
                    self._reader.start()
                    self._writer.start()
                    await self._load()
        except TimeoutError:
            trouble = self._reader.trouble or self._trouble
            because = f": {trouble}" if trouble else ""
            raise OttlaError(f"the topic {self._topic} was not read within {limit_s:g} s{because}") from None
        self._is_loaded = True
        settings = self._config.settings
        options = ApplicationOptions(
            self._shell.body_limits,
            settings.integer("request.timeout.ms") / 1000,
            login_of(settings),
            settings.boolean("access.log.enable"),
        )
        routes: list[Route] = [*health_routes(self.metrics, self._is_ready), *registry_routes(self)]
        routes.append(description_route(description(routes)))
        self._server = HttpServer(ShellApplication(routes, CONTENT, self.metrics, options), self._shell)
        await self._server.start()
        self._membership = self._member()
        self._membership.start()

    async def stop(self) -> None:
        """Answers what is under way, gives the seat up, and ends."""
        if self._server is not None:
            await self._server.stop()
        if self._membership is not None:
            await self._membership.stop()
        await self._writer.stop()
        await self._reader.stop()
        self._peers.close()

    async def write(
        self, request: Request, decide: Callable[[RegistryState], Outcome[T]], show: Callable[[T], object]
    ) -> Answer:
        """The answer to a request that changes something: decided here, or by the primary."""
        for _ in range(2):
            membership = self._membership
            if membership is None or not await membership.wait_known(self._timeout_s):
                raise leader_unknown()
            primary = membership.primary
            if membership.is_primary:
                answer, offset = await self._writer.submit(decide)
                made = json_answer(show(answer))
                return Answer(200, made.body, headers={_OFFSET: str(offset)} if FORWARDED in request.headers else {})
            if FORWARDED in request.headers:
                raise leader_unknown()
            if primary is not None:
                return await self._forward(primary, request)
        raise leader_unknown()

    async def _forward(self, primary: Identity, request: Request) -> Answer:
        try:
            answer = await self._peers.forward(primary.url, request)
        except PeerUnreachableError as error:
            _log.warning("The primary did not answer: %s", error)
            raise forwarding_failed(f"Error while forwarding the request to the leader: {error}") from None
        offset = answer.headers.get(_OFFSET, "")
        if offset.isdecimal():
            try:
                async with asyncio.timeout(self._timeout_s):
                    await self._reader.reach(int(offset))
            except TimeoutError:
                _log.warning("The answer of the primary could not be read back in time")
        return Answer(answer.status, answer.body, answer.content_type)

    async def _prepare(self) -> None:
        """The topic is there and fit; brokers that are not up yet are waited for."""
        while True:
            admin = AsyncAdmin({"default.api.timeout.ms": _ASK_MS, **self._config.client})
            try:
                await admin.start(timeout_ms=_START_MS)
                await self._find_topic(admin)
                return
            except FORBIDDEN as error:
                raise not_allowed(self._topic, error) from error
            except OttlaError as error:
                if not getattr(error, "retriable", False):
                    raise
                self._trouble = error
                _log.warning("The cluster does not answer yet: %s", " ".join(str(error).split()), extra=_AWAY)
            finally:
                await admin.close()
            await asyncio.sleep(_PAUSE_S)

    async def _find_topic(self, admin: AsyncAdmin) -> None:
        settings = self._config.settings
        self.cluster_id = (await admin.describe_cluster()).cluster_id
        if not settings.boolean("kafkastore.topic.skip.validation"):
            await ensure_topic(admin, self._topic, settings.integer("kafkastore.topic.replication.factor"))

    async def _load(self) -> None:
        while True:
            try:
                await self._writer.find_end()
            except FORBIDDEN as error:
                raise not_allowed(self._topic, error) from error
            except OttlaError as error:
                self._trouble = error
                _log.warning("The end of the schemas' topic is not known yet: %s", error)
                await asyncio.sleep(_PAUSE_S)
            else:
                return

    def _member(self) -> Membership:
        settings = self._config.settings
        options = GroupOptions(
            self.group_id,
            settings.integer("kafkagroup.session.timeout.ms"),
            settings.integer("kafkagroup.heartbeat.interval.ms"),
            settings.integer("kafkagroup.rebalance.timeout.ms"),
        )
        member = Membership(self._config.client, options, self._identity())
        member.on_elected = self._writer.forget_end
        member.before_joining = self._writer.quiet
        return member

    def _identity(self) -> Identity:
        """The address for other instances: the listener of the inter-instance protocol."""
        settings = self._config.settings
        wanted = settings.string("inter.instance.protocol").lower()
        address = next((each for each in self.addresses if each.scheme == wanted), self.addresses[0])
        is_any = address.host in ("", "0.0.0.0", "::")
        host = settings.string("host.name") or (socket.getfqdn() if is_any else address.host)
        port = settings.integer("host.port") or address.port
        return Identity(host, port, self._config.is_eligible, address.scheme)

    def _may_write(self) -> bool:
        return self._membership is not None and self._membership.is_primary

    def _is_ready(self) -> bool:
        return self._is_loaded and self._reader.trouble is None

    def _reader_metrics(self) -> None:
        gauge = self.metrics.gauge
        gauge("schema_registry_subjects", "Subjects, deleted ones included.", lambda: len(self.state.subjects))
        gauge(
            "schema_registry_schemas",
            "Distinct schemas of all contexts.",
            lambda: sum(len(context.ids) for context in self.state.contexts.values()),
        )
        gauge("schema_registry_is_primary", "1 on the instance that writes.", lambda: int(self._may_write()))
        gauge("schema_registry_position", "The next offset of the schemas' topic.", lambda: self._reader.position)
