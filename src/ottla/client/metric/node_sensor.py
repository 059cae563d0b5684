"""The metrics of the connections to one node, under Kafka's names.

A client's own figures (`producer-metrics`) are the sums over its nodes (`producer-node-metrics`).
"""

import math
from collections.abc import Callable
from typing import Final

from ottla.client.config.kind import ClientKind
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.metric.sensor import Sensor

BOOTSTRAP_NODE: Final = -1


class NodeSensor:
    """Requests, answers and connections of one node; cheap enough for every request."""

    __slots__ = ("answers", "closed", "latencies_ms", "logins", "made", "open_count", "refusals", "requests")

    def __init__(self, metrics: ClientMetrics) -> None:
        self.requests: Final = metrics.sensor()
        """Sizes of requests in bytes."""
        self.answers: Final = metrics.sensor()
        """Sizes of answers in bytes."""
        self.latencies_ms: Final = metrics.sensor()
        """Time from request to answer."""
        self.made: Final = metrics.sensor()
        self.closed: Final = metrics.sensor()
        self.logins: Final = metrics.sensor()
        self.refusals: Final = metrics.sensor()
        self.open_count = 0

    def connected(self) -> None:
        """A connection was made."""
        self.open_count += 1
        self.made.record()

    def disconnected(self) -> None:
        """A connection ended."""
        self.open_count -= 1
        self.closed.record()


class NodeSensors:
    """The sensors of all nodes of a client."""

    def __init__(self, metrics: ClientMetrics) -> None:
        self._metrics: Final = metrics
        self._nodes: Final[dict[int, NodeSensor]] = {}
        self._show_sums()

    def of(self, node_id: int) -> NodeSensor:
        """The sensor of a node, shown from now on; `BOOTSTRAP_NODE` for addresses that have no id yet."""
        found = self._nodes.get(node_id)
        if found is None:
            found = self._nodes[node_id] = NodeSensor(self._metrics)
            if node_id != BOOTSTRAP_NODE:
                self._show_node(node_id, found)
        return found

    def _show_node(self, node_id: int, node: NodeSensor) -> None:
        group, tags = f"{self._metrics.prefix}-node-metrics", {"node-id": f"node-{node_id}"}
        shown = {
            "request-rate": node.requests.event_rate,
            "request-total": node.requests.event_count,
            "request-size-avg": node.requests.average,
            "request-size-max": node.requests.largest,
            "outgoing-byte-rate": node.requests.rate,
            "outgoing-byte-total": node.requests.sum,
            "response-rate": node.answers.event_rate,
            "response-total": node.answers.event_count,
            "incoming-byte-rate": node.answers.rate,
            "incoming-byte-total": node.answers.sum,
            "request-latency-avg": node.latencies_ms.average,
            "request-latency-max": node.latencies_ms.largest,
        }
        for name, read in shown.items():
            self._metrics.show(name, read, group, tags, doc=_DOCS[name])

    def _show_sums(self) -> None:
        group = f"{self._metrics.prefix}-metrics"
        for name, of_node in _SUMS.items():
            self._metrics.show(name, self._sum(of_node), group, doc=_DOCS[name])
        self._show_spread("request-size", lambda node: node.requests, group)
        if self._metrics.prefix != ClientKind.CONSUMER.value:
            self._show_spread("request-latency", lambda node: node.latencies_ms, group)

    def _show_spread(self, name: str, of_node: Callable[[NodeSensor], Sensor], group: str) -> None:
        """Mean and maximum over all nodes."""

        def average() -> float:
            counts, totals = zip(*(of_node(node).lately() for node in list(self._nodes.values())), strict=True)
            return sum(totals) / sum(counts) if any(counts) else math.nan

        def largest() -> float:
            found = [of_node(node).largest() for node in list(self._nodes.values())]
            return max((value for value in found if not math.isnan(value)), default=math.nan)

        show = self._metrics.show
        show(f"{name}-avg", lambda: average() if self._nodes else math.nan, group, doc=_DOCS[f"{name}-avg"])
        show(f"{name}-max", largest, group, doc=_DOCS[f"{name}-max"])

    def _sum(self, of_node: Callable[[NodeSensor], float]) -> Callable[[], float]:
        return lambda: sum(of_node(node) for node in list(self._nodes.values()))


def _in_and_out(node: NodeSensor) -> tuple[Sensor, Sensor]:
    return node.requests, node.answers


_SUMS: Final[dict[str, Callable[[NodeSensor], float]]] = {
    "connection-count": lambda node: node.open_count,
    "connection-creation-rate": lambda node: node.made.event_rate(),
    "connection-creation-total": lambda node: node.made.count,
    "connection-close-rate": lambda node: node.closed.event_rate(),
    "connection-close-total": lambda node: node.closed.count,
    "successful-authentication-rate": lambda node: node.logins.event_rate(),
    "successful-authentication-total": lambda node: node.logins.count,
    "failed-authentication-rate": lambda node: node.refusals.event_rate(),
    "failed-authentication-total": lambda node: node.refusals.count,
    "network-io-rate": lambda node: sum(sensor.event_rate() for sensor in _in_and_out(node)),
    "network-io-total": lambda node: sum(sensor.count for sensor in _in_and_out(node)),
    "request-rate": lambda node: node.requests.event_rate(),
    "request-total": lambda node: node.requests.count,
    "outgoing-byte-rate": lambda node: node.requests.rate(),
    "outgoing-byte-total": lambda node: node.requests.total,
    "response-rate": lambda node: node.answers.event_rate(),
    "response-total": lambda node: node.answers.count,
    "incoming-byte-rate": lambda node: node.answers.rate(),
    "incoming-byte-total": lambda node: node.answers.total,
}

_DOCS: Final = {
    "connection-count": "Connections that are open now.",
    "connection-creation-rate": "New connections per second.",
    "connection-creation-total": "New connections since the start.",
    "connection-close-rate": "Connections that ended, per second.",
    "connection-close-total": "Connections that ended since the start.",
    "successful-authentication-rate": "Connections on which SASL succeeded, per second.",
    "successful-authentication-total": "Connections on which SASL succeeded, since the start.",
    "failed-authentication-rate": "Connections on which SASL or TLS failed, per second.",
    "failed-authentication-total": "Connections on which SASL or TLS failed, since the start.",
    "network-io-rate": "Requests and answers per second.",
    "network-io-total": "Requests and answers since the start.",
    "request-rate": "Requests per second.",
    "request-total": "Requests since the start.",
    "request-size-avg": "Mean size of requests in bytes.",
    "request-size-max": "Largest request in bytes.",
    "outgoing-byte-rate": "Bytes sent per second.",
    "outgoing-byte-total": "Bytes sent since the start.",
    "response-rate": "Answers per second.",
    "response-total": "Answers since the start.",
    "incoming-byte-rate": "Bytes received per second.",
    "incoming-byte-total": "Bytes received since the start.",
    "request-latency-avg": "Mean time from request to answer in ms.",
    "request-latency-max": "Longest time from request to answer in ms.",
}
