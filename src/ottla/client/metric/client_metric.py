"""All metrics of one client, by Kafka's names; values are worked out when they are read.

Owners make a `Sensor` and say which of its statistics are shown under which names; numbers that exist anyway are shown
as gauges. Reporters (`metric.reporters`) hear of each metric that comes and goes.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias, runtime_checkable

from ottla.base.config import ConfigError
from ottla.client.config.kind import client_kind
from ottla.client.config.settings import ClientSettings
from ottla.client.metric.metric_name import MetricName
from ottla.client.metric.sensor import Sensor

Read: TypeAlias = Callable[[], float]

_JMX: Final = "org.apache.kafka.common.metrics.JmxReporter"


@runtime_checkable
class MetricReporter(Protocol):
    """Hears of a client's metrics; `read` gives a metric's value at any time, from any thread."""

    def metric_added(self, name: MetricName, read: Read) -> None:
        """There is a metric."""
        ...

    def metric_removed(self, name: MetricName) -> None:
        """It is gone."""
        ...


class _Silent:
    """Accepts the name of Java's JMX reporter, which has no use here."""

    def metric_added(self, name: MetricName, read: Read) -> None:
        """Ignores the value."""

    def metric_removed(self, name: MetricName) -> None:
        """Ignores the value."""


class ClientMetrics:
    """The metrics of one client.

    >>> from ottla.client.config.producer import PRODUCER_KEYS
    >>> metrics = ClientMetrics(ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:9092"), "me")
    >>> sizes = metrics.sensor()
    >>> metrics.show("batch-size-avg", sizes.average, "producer-metrics")
    >>> sizes.record(100); sizes.record(200)
    >>> metrics.values()[MetricName("batch-size-avg", "producer-metrics", (("client-id", "me"),))]
    150.0
    """

    def __init__(self, settings: ClientSettings, client_id: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.prefix: Final = client_kind(settings).value
        """`producer`, `consumer` or `admin-client`: how this client's groups begin."""
        self.clock: Final = clock
        self._tags: Final = {"client-id": client_id}
        self._sample_count: Final = settings.integer("metrics.num.samples")
        self._window_s: Final = settings.integer("metrics.sample.window.ms") / 1000
        self._metrics: Final[dict[MetricName, Read]] = {}
        self._docs: Final[dict[str, str]] = {}
        self._reporters: Final = _reporters(settings)
        self.show("count", lambda: len(self._metrics), "kafka-metrics-count", doc="Total number of registered metrics.")

    def sensor(self) -> Sensor:
        """A new sensor with the windows that the settings say."""
        return Sensor(self.clock, sample_count=self._sample_count, window_s=self._window_s)

    def show(self, name: str, read: Read, group: str, tags: Mapping[str, str] | None = None, *, doc: str = "") -> None:
        """Shows a number under a name; `tags` come beside `client-id`. Showing it again replaces it."""
        full_name = MetricName.of(name, group, {**self._tags, **(tags or {})})
        self._metrics[full_name] = read
        if doc:
            self._docs[name] = doc
        for reporter in self._reporters:
            reporter.metric_added(full_name, read)

    def hide(self, group: str, tags: Mapping[str, str]) -> None:
        """Removes all metrics of a group that have these tags: of a topic that is gone."""
        wanted = set(tags.items())
        for name in [name for name in self._metrics if name.group == group and wanted <= set(name.tags)]:
            del self._metrics[name]
            for reporter in self._reporters:
                reporter.metric_removed(name)

    def values(self) -> dict[MetricName, float]:
        """Every metric's value now."""
        return {name: read() for name, read in list(self._metrics.items())}

    def doc(self, name: str) -> str:
        """The description of a metric."""
        return self._docs.get(name, "")

    def close(self) -> None:
        """Tells the reporters that all metrics are gone."""
        for name in list(self._metrics):
            for reporter in self._reporters:
                reporter.metric_removed(name)
        self._metrics.clear()


def _reporters(settings: ClientSettings) -> tuple[MetricReporter, ...]:
    found = settings.plugins("metric.reporters", {_JMX: _Silent})
    for reporter in found:
        if not isinstance(reporter, MetricReporter):
            raise ConfigError("metric.reporters", reporter, "a reporter has metric_added and metric_removed")
    return tuple(reporter for reporter in found if isinstance(reporter, MetricReporter))
