"""One proxy: its Kafka clients, its consumers and its HTTP server, started in order and stopped in order.

Instances don't know each other: a consumer lives in the one that made it.
"""

import asyncio
import logging
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.log_limit import repeatable
from ottla.base.metric import MetricRegistry
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.registry.registry import SchemaRegistry
from ottla.web.http.address import ListenAddress
from ottla.web.http.application import ApplicationOptions, ShellApplication
from ottla.web.http.config import ShellConfig
from ottla.web.http.description import description_route
from ottla.web.http.health import health_routes
from ottla.web.http.login import login_of
from ottla.web.http.route import Route
from ottla.web.http.server import HttpServer
from ottla.web.rest.caller import Callers
from ottla.web.rest.config import DEFAULT_LISTENER, RestConfig
from ottla.web.rest.content import METADATA, V3
from ottla.web.rest.context import RestContext
from ottla.web.rest.description import description
from ottla.web.rest.record.schema import SchemaBook
from ottla.web.rest.sending import RecordSender
from ottla.web.rest.v2.consumer import ConsumerApi
from ottla.web.rest.v2.instances import ConsumerInstances
from ottla.web.rest.v2.produce import ProduceApi
from ottla.web.rest.v2.topic import TopicApi
from ottla.web.rest.v3.route import v3_routes

_log: Final = logging.getLogger(__name__)
_PAUSE_S: Final = 0.5
_AWAY: Final = repeatable("cluster")
_START_LIMIT_S: Final = 60.0
_FLUSH_S: Final = 10.0


class RestService:
    """One instance."""

    def __init__(self, config: RestConfig) -> None:
        settings = config.settings
        self.metrics: Final = MetricRegistry()
        self._config: Final = config
        self._shell: Final = ShellConfig.of(settings, DEFAULT_LISTENER)
        self._producer: Final = AsyncProducer(config.producer)
        self._admin: Final = AsyncAdmin(config.admin)
        self._registry: Final = SchemaRegistry(config.registry)
        self._instances: Final = ConsumerInstances.of(settings)
        book = SchemaBook(self._registry)
        self._context: Final = RestContext(config, self._admin, RecordSender(self._producer), book)
        passed = config.passed_login()
        self._login: Final = login_of(settings) if passed is None else passed
        self._callers: Final = None if passed is None else Callers(config, passed, book, self._api)
        self._server: HttpServer | None = None

    @property
    def addresses(self) -> list[ListenAddress]:
        """The addresses for clients."""
        return [] if self._server is None else self._server.addresses

    async def start(self) -> None:
        """Waits for the cluster, and listens. Raises `OttlaError`."""
        await self._find_cluster()
        await self._producer.start()
        self._instances.start()
        if self._callers is not None:
            self._callers.cluster_id = self._context.cluster_id
            self._callers.start()
        self.metrics.gauge("rest_consumer_instances", "Consumers of version 2.", lambda: len(self._instances))
        settings = self._config.settings
        options = ApplicationOptions(
            self._shell.body_limits,
            settings.integer("request.timeout.ms") / 1000,
            self._login,
            settings.boolean("access.log.enable"),
        )
        is_v2 = settings.boolean("api.v2.enable")
        routes, content = self._routes(), METADATA if is_v2 else V3
        routes.append(description_route(description(routes, content)))
        application = ShellApplication(routes, content, self.metrics, options)
        self._server = HttpServer(application, self._shell)
        await self._server.start()

    async def stop(self) -> None:
        """Answers what is under way, sends what was taken, closes all consumers, and ends."""
        if self._server is not None:
            await self._server.stop()
        if self._callers is not None:
            await self._callers.stop()
        await self._instances.stop()
        await self._producer.close(_FLUSH_S)
        await self._admin.close()
        self._registry.close()

    def _routes(self) -> list[Route]:
        own = self._api(self._context, self._instances)
        health = health_routes(self.metrics, lambda: True)
        return [*health, *(own if self._callers is None else self._callers.routes(own))]

    def _api(self, context: RestContext, instances: ConsumerInstances) -> list[Route]:
        routes: list[Route] = []
        settings = self._config.settings
        if settings.boolean("api.v2.enable"):
            routes += TopicApi(context).routes()
            routes += ProduceApi(context).routes()
            routes += ConsumerApi(context, instances).routes()
        if settings.boolean("api.v3.enable"):
            routes += v3_routes(context)
        return routes

    async def _find_cluster(self) -> None:
        """Brokers that are not up yet are waited for."""
        deadline = asyncio.get_running_loop().time() + _START_LIMIT_S
        while True:
            try:
                await self._admin.start(timeout_ms=1_000)
                self._context.cluster_id = (await self._admin.describe_cluster()).cluster_id
                return
            except OttlaError as error:
                if not getattr(error, "retriable", False):
                    raise
                if asyncio.get_running_loop().time() > deadline:
                    raise OttlaError(f"the cluster did not answer within {_START_LIMIT_S:g} s: {error}") from None
                _log.warning("The cluster does not answer yet: %s", " ".join(str(error).split()), extra=_AWAY)
            await asyncio.sleep(_PAUSE_S)
