"""The service of one instance, in a thread with an event loop of its own; it starts and ends with the instance."""

from collections.abc import Mapping
from typing import Any, Final

from ottla.base.metric import MetricRegistry
from ottla.client.config.settings import ClientSettings
from ottla.client.facade.loop_thread import LoopThread
from ottla.streams.local.query.place import HostInfo
from ottla.streams.serving import application_server
from ottla.web.http.address import ListenAddress
from ottla.web.http.application import ApplicationOptions, ShellApplication
from ottla.web.http.config import SHELL_KEYS, ShellConfig
from ottla.web.http.content import ContentTypes
from ottla.web.http.health import health_routes
from ottla.web.http.login import login_of
from ottla.web.http.peer import PeerClient, PeerOptions
from ottla.web.http.server import HttpServer
from ottla.web.http.tls import peer_context
from ottla.web.streams.api import QueryApi
from ottla.web.streams.store import Queryable

_PEER_S: Final = 10.0


class QueryServing:
    """A running service."""

    def __init__(self, streams: Queryable, settings: ClientSettings) -> None:
        shell = ShellConfig.of(settings, "")
        is_secure = shell.listeners[0].is_secure
        self._peers: Final = PeerClient(PeerOptions(_PEER_S, _PEER_S, peer_context(settings) if is_secure else None))
        here = HostInfo.parse(application_server(streams.configuration))
        api = QueryApi(streams, here, shell.listeners[0].scheme, self._peers)
        metrics = MetricRegistry()
        options = ApplicationOptions(
            shell.body_limits,
            settings.integer("request.timeout.ms") / 1000,
            login_of(settings),
            settings.boolean("access.log.enable"),
        )
        routes = [*api.routes(), *health_routes(metrics, api.is_ready)]
        self._server: Final = HttpServer(ShellApplication(routes, ContentTypes(), metrics, options), shell)
        self._thread: Final = LoopThread(f"{streams.configuration['application.id']}-queries")
        try:
            self._thread.run(self._server.start())
        except BaseException:
            self._thread.close()
            raise

    @property
    def addresses(self) -> list[ListenAddress]:
        """The addresses for clients."""
        return self._server.addresses

    def close(self) -> None:
        """Answers what is under way, and ends."""
        self._thread.run(self._server.stop())
        self._thread.close()
        self._peers.close()


def serve(streams: Queryable, settings: Mapping[str, Any]) -> QueryServing:
    """Serves an instance's stores; the settings are those of `query.…`, and `ConfigError` for one that cannot be.

    Each request is logged only if `query.access.log.enable` says so: there may be thousands a second.
    """
    given = {"access.log.enable": "false", **{name: str(value) for name, value in settings.items()}}
    return QueryServing(streams, ClientSettings.of(SHELL_KEYS, given))
