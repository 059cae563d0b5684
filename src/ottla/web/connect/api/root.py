"""`GET /` and `GET /health`."""

from collections.abc import Callable, Sequence
from typing import Final

from ottla.base.version import VERSION
from ottla.web.connect.api.edge import route
from ottla.web.connect.context import ConnectContext
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_KAFKA: Final = "4.3.1"
"""The version of Kafka Connect whose API this is: tools look at it."""


class RootApi:
    """The worker's identity and health."""

    def __init__(self, context: ConnectContext, trouble: Callable[[], str | None]) -> None:
        """`trouble` says what is wrong with the worker; an empty text: it has not started yet."""
        self._context: Final = context
        self._trouble: Final = trouble

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        return [route("GET", "/", self._root), route("GET", "/health", self._health, is_public=True)]

    async def _root(self, _: Request) -> Answer:
        cluster = self._context.cluster_id
        return json_answer({"version": _KAFKA, "commit": f"ottla-{VERSION}", "kafka_cluster_id": cluster})

    async def _health(self, _: Request) -> Answer:
        trouble = self._trouble()
        if trouble is None:
            message = "Worker has completed startup and is ready to handle requests."
            return json_answer({"status": "healthy", "message": message})
        if not trouble:
            return json_answer({"status": "starting", "message": "Worker is still starting up."}, 503)
        return json_answer({"status": "unhealthy", "message": trouble}, 503)
