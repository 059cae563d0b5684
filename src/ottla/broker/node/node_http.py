"""The HTTP port of a node: `/metrics` for Prometheus, `/healthz` and `/readyz` for supervisors.

Healthy is a node that can go on; ready is one that serves those whom it is there for.
"""

from collections.abc import Callable

from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import CONTENT_TYPE, render
from ottla.broker.config.listener import HostPort
from ottla.net.http_server import HttpAnswer, HttpServer


def http_server(
    address: HostPort, metrics: MetricRegistry, is_healthy: Callable[[], bool], is_ready: Callable[[], bool]
) -> HttpServer:
    """A server for the three paths, not started yet."""
    routes = {
        "/metrics": lambda: HttpAnswer(200, render(metrics).encode(), CONTENT_TYPE),
        "/healthz": lambda: _verdict("healthy", is_healthy()),
        "/readyz": lambda: _verdict("ready", is_ready()),
    }
    return HttpServer(address.host, address.port, routes)


def _verdict(word: str, is_so: bool) -> HttpAnswer:
    return HttpAnswer(200, f"{word}\n".encode()) if is_so else HttpAnswer(503, f"not {word}\n".encode())
