"""A producer's metrics, under Kafka's names: `producer-metrics` and `producer-topic-metrics`.

Counted per batch, never per record, so that counting costs nothing.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.metric.sensor import Sensor

if TYPE_CHECKING:
    from ottla.client.producer.accumulator import Accumulator
    from ottla.client.producer.batch import ProducerBatch

GROUP: Final = "producer-metrics"
TOPIC_GROUP: Final = "producer-topic-metrics"
_SPANS: Final = (
    "flush",
    "metadata-wait",
    "bufferpool-wait",
    "txn-init",
    "txn-begin",
    "txn-send-offsets",
    "txn-commit",
    "txn-abort",
)


class _Counts:
    """The metrics of the producer and of each topic."""

    __slots__ = ("bytes", "compression", "errors", "records", "retries")

    def __init__(self, metrics: ClientMetrics) -> None:
        self.records: Sensor = metrics.sensor()
        self.bytes: Sensor = metrics.sensor()
        self.retries: Sensor = metrics.sensor()
        self.errors: Sensor = metrics.sensor()
        self.compression: Sensor = metrics.sensor()

    def sensors(self) -> Iterator[tuple[str, Sensor]]:
        """The counters that are shown as rate and total."""
        yield "record-send", self.records
        yield "record-retry", self.retries
        yield "record-error", self.errors


class ProducerMetric:
    """All counts of one producer."""

    def __init__(self, metrics: ClientMetrics) -> None:
        self._metrics: Final = metrics
        self._topics: Final[dict[str, _Counts]] = {}
        self._all: Final = _Counts(metrics)
        self._record_bytes: Final = metrics.sensor()
        self._spans_ns: Final = dict.fromkeys(_SPANS, 0)
        self._show_all()
        self.queue_ms: Final = self._spread("record-queue-time")
        self.throttle_ms: Final = self._spread("produce-throttle-time")
        self.records_per_request: Final = metrics.sensor()
        metrics.show("records-per-request-avg", self.records_per_request.average, GROUP)
        self.exhausted: Final = metrics.sensor()
        metrics.show("buffer-exhausted-rate", self.exhausted.rate, GROUP)
        metrics.show("buffer-exhausted-total", self.exhausted.sum, GROUP)
        self.splits: Final = metrics.sensor()
        metrics.show("batch-split-rate", self.splits.rate, GROUP)
        metrics.show("batch-split-total", self.splits.sum, GROUP)

    def _show_all(self) -> None:
        show, counts = self._metrics.show, self._all
        for name, sensor in counts.sensors():
            show(f"{name}-rate", sensor.rate, GROUP)
            show(f"{name}-total", sensor.sum, GROUP)
        show("compression-rate-avg", counts.compression.average, GROUP)
        show("record-size-avg", lambda: _quotient(counts.bytes.total, counts.records.total), GROUP)
        show("record-size-max", self._record_bytes.largest, GROUP)
        show("batch-size-avg", counts.bytes.average, GROUP)
        show("batch-size-max", counts.bytes.largest, GROUP)
        for span in self._spans_ns:
            show(f"{span}-time-ns-total", lambda span=span: float(self._spans_ns[span]), GROUP)  # type: ignore[misc]

    def _spread(self, name: str) -> Sensor:
        sensor = self._metrics.sensor()
        self._metrics.show(f"{name}-avg", sensor.average, GROUP)
        self._metrics.show(f"{name}-max", sensor.largest, GROUP)
        return sensor

    def show_memory(self, accumulator: "Accumulator") -> None:
        """Shows how full the buffer is."""
        show = self._metrics.show
        show("buffer-total-bytes", lambda: accumulator.memory_bytes, GROUP)
        show("buffer-available-bytes", lambda: accumulator.memory_bytes - accumulator.memory_used, GROUP)
        show("waiting-threads", lambda: accumulator.waiting_count, GROUP)

    def show_sending(self, in_flight: Callable[[], float], metadata_age_s: Callable[[], float]) -> None:
        """Shows the requests in flight, and the age of the metadata."""
        self._metrics.show("requests-in-flight", in_flight, GROUP)
        self._metrics.show("metadata-age", metadata_age_s, GROUP)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Adds the time that something takes."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            self._spans_ns[name] += time.perf_counter_ns() - start

    def batch_sent(self, batch: "ProducerBatch", now_ms: int) -> None:
        """A batch leaves for the first time."""
        found = self._topics.get(batch.queue.topic) or self._topic(batch.queue.topic)
        size = len(batch.records or b"")
        ratio = size / max(1, batch.used)
        for counts in (self._all, found):
            counts.records.record(batch.count)
            counts.bytes.record(size)
            counts.compression.record(ratio)
        self._record_bytes.record(batch.record_bytes_max)
        self.queue_ms.record(now_ms - batch.created_ms)

    def batch_retried(self, batch: "ProducerBatch") -> None:
        """A batch will be sent again."""
        self._all.retries.record(batch.count)
        self._topic(batch.queue.topic).retries.record(batch.count)

    def record_refused(self) -> None:
        """A record never got into a batch."""
        self._all.errors.record(1)

    def batch_failed(self, batch: "ProducerBatch") -> None:
        """A batch was given up."""
        self._all.errors.record(batch.count)
        self._topic(batch.queue.topic).errors.record(batch.count)

    def _topic(self, topic: str) -> _Counts:
        found = self._topics.get(topic)
        if found is None:
            found = self._topics[topic] = _Counts(self._metrics)
            tags = {"topic": topic}
            for name, sensor in (*found.sensors(), ("byte", found.bytes)):
                self._metrics.show(f"{name}-rate", sensor.rate, TOPIC_GROUP, tags)
                self._metrics.show(f"{name}-total", sensor.sum, TOPIC_GROUP, tags)
            self._metrics.show("compression-rate", found.compression.average, TOPIC_GROUP, tags)
        return found


def _quotient(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
