import pytest

from ottla.base.config import ConfigError
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.metric.client_metric import ClientMetrics, Read
from ottla.client.metric.metric_name import MetricName
from ottla.client.metric.node_sensor import BOOTSTRAP_NODE, NodeSensors


class Reporter:
    def __init__(self) -> None:
        self.names: set[str] = set()

    def metric_added(self, name: MetricName, read: Read) -> None:
        self.names.add(name.name)

    def metric_removed(self, name: MetricName) -> None:
        self.names.discard(name.name)


def metrics(**settings: object) -> ClientMetrics:
    return ClientMetrics(ClientSettings.of(CONSUMER_KEYS, bootstrap_servers="a:1", **settings), "me")


def value(found: ClientMetrics, name: str, group: str, **tags: str) -> float:
    named = {tag.replace("_", "-"): text for tag, text in tags.items()}
    return found.values()[MetricName.of(name, group, {"client-id": "me", **named})]


def test_metrics_come_and_go() -> None:
    found = metrics()
    for topic in ("a", "b"):
        found.show("lag", lambda: 7, "consumer-fetch-manager-metrics", {"topic": topic}, doc="How far behind.")
    assert value(found, "lag", "consumer-fetch-manager-metrics", topic="a") == 7
    assert found.doc("lag") == "How far behind."
    found.hide("consumer-fetch-manager-metrics", {"topic": "a"})
    assert [dict(name.tags)["topic"] for name in found.values() if name.name == "lag"] == ["b"]


def test_a_client_counts_what_its_nodes_do() -> None:
    found = metrics()
    nodes = NodeSensors(found)
    for node_id, size in ((BOOTSTRAP_NODE, 10), (1, 20), (2, 30)):
        nodes.of(node_id).connected()
        nodes.of(node_id).requests.record(size)
    nodes.of(1).disconnected()
    assert value(found, "outgoing-byte-total", "consumer-metrics") == 60
    assert value(found, "connection-count", "consumer-metrics") == 2
    assert value(found, "outgoing-byte-total", "consumer-node-metrics", node_id="node-2") == 30
    assert nodes.of(1) is nodes.of(1)


def test_reporters_hear_of_metrics() -> None:
    reporter = Reporter()
    found = metrics(metric_reporters=[reporter])
    found.show("lag", lambda: 7, "g")
    assert reporter.names == {"count", "lag"}
    found.close()
    assert not reporter.names


def test_javas_reporter_is_passed_over_and_others_are_checked() -> None:
    metrics(metric_reporters="org.apache.kafka.common.metrics.JmxReporter")
    with pytest.raises(ConfigError, match="a reporter has metric_added"):
        metrics(metric_reporters=[object()])
