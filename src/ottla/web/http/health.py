"""The routes that every service has: `/metrics` for Prometheus, `/healthz` and `/readyz` for who looks after it.

Healthy is a process that can go on; ready is one that serves those whom it is there for.
"""

from collections.abc import Callable

from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import CONTENT_TYPE, render
from ottla.web.http.answer import TEXT, Answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route


def health_routes(metrics: MetricRegistry, is_ready: Callable[[], bool]) -> list[Route]:
    """The three routes. All are answered without log-in: they tell nothing of the service's data."""

    async def show_metrics(_: Request) -> Answer:
        return Answer(200, render(metrics).encode(), CONTENT_TYPE)

    async def show_health(_: Request) -> Answer:
        return Answer(200, b"healthy\n", TEXT)

    async def show_readiness(_: Request) -> Answer:
        return Answer(200, b"ready\n", TEXT) if is_ready() else Answer(503, b"not ready\n", TEXT)

    return [
        Route("GET", "/metrics", show_metrics, is_public=True),
        Route("GET", "/healthz", show_health, is_public=True),
        Route("GET", "/readyz", show_readiness, is_public=True),
    ]
