"""Metrics of requests: number, route, status and duration."""

from typing import Final

from ottla.base.metric import Counter, Histogram, MetricRegistry

_REQUESTS: Final = "http_requests_total"
_TIME: Final = "http_request_time_ms"
UNROUTED: Final = "-"
"""In the place of a route: the path leads nowhere, and must not become a label."""


class RequestMetrics:
    """The counters of one service."""

    def __init__(self, registry: MetricRegistry) -> None:
        self.in_flight = 0
        self._registry: Final = registry
        self._counters: Final[dict[tuple[str, str, int], Counter]] = {}
        self._times: Final[dict[tuple[str, str], Histogram]] = {}
        registry.gauge("http_requests_in_flight", "Requests that are not answered yet.", lambda: self.in_flight)

    def answered(self, method: str, route: str, status: int, took_ms: float) -> None:
        """One request was answered."""
        counter = self._counters.get((method, route, status))
        if counter is None:
            counter = self._counters[method, route, status] = self._registry.counter(
                _REQUESTS, "Requests answered.", method=method, route=route, status=str(status)
            )
        counter.value += 1
        histogram = self._times.get((method, route))
        if histogram is None:
            histogram = self._times[method, route] = self._registry.histogram(
                _TIME, "Milliseconds from a request's header to its answer.", method=method, route=route
            )
        histogram.record(took_ms)
