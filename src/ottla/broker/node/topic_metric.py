"""Metrics of each topic: Kafka's BrokerTopicMetrics.

The hot path adds to plain numbers; names and labels appear when the metrics are read. Each metric exists for every
topic and for their sum (with an empty label `topic`, which Prometheus treats as no label). The sum keeps the counts of
deleted topics.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ottla.base.metric import MetricKind, MetricRegistry, Samples

if TYPE_CHECKING:
    from ottla.metadata.image.metadata_delta import MetadataDelta
    from ottla.metadata.image.metadata_image import MetadataImage

_METRICS: Final = {
    "messages_in": ("messagesin", "Records appended by producers."),
    "bytes_in": ("bytesin", "Bytes appended by producers."),
    "bytes_out": ("bytesout", "Bytes sent to consumers."),
    "replication_bytes_out": ("replicationbytesout", "Bytes sent to followers."),
    "produce_requests": ("totalproducerequests", "Produce requests, once for each partition."),
    "fetch_requests": ("totalfetchrequests", "Fetch requests, once for each partition."),
    "failed_produce_requests": ("failedproducerequests", "Produce requests that failed, once for each partition."),
    "failed_fetch_requests": ("failedfetchrequests", "Fetch requests that failed, once for each partition."),
    "invalid_crc": ("invalidmessagecrcrecords", "Batches refused because their CRC does not match."),
    "invalid_sequence": ("invalidoffsetorsequencerecords", "Batches refused for their sequence numbers."),
}
"""Attribute to the name in Kafka's MBeans, lower case, and what it says."""


class TopicCounts:
    """The counters of one topic; the hot path adds to the attributes."""

    __slots__ = tuple(_METRICS)

    if TYPE_CHECKING:
        messages_in: int
        bytes_in: int
        bytes_out: int
        replication_bytes_out: int
        produce_requests: int
        fetch_requests: int
        failed_produce_requests: int
        failed_fetch_requests: int
        invalid_crc: int
        invalid_sequence: int

    def __init__(self) -> None:
        for name in _METRICS:
            setattr(self, name, 0)

    def add(self, other: "TopicCounts") -> None:
        """Takes over what another has counted."""
        for name in _METRICS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class TopicMetrics:
    """The counts of all topics; a metadata listener that forgets topics once they are deleted."""

    def __init__(self, metrics: MetricRegistry) -> None:
        self._topics: dict[str, TopicCounts] = {}
        self._deleted = TopicCounts()
        for attribute, (name, doc) in _METRICS.items():
            full_name = f"kafka_server_brokertopicmetrics_{name}_total"
            metrics.collector(full_name, doc, self._collector(attribute), MetricKind.COUNTER)

    def of(self, topic: str) -> TopicCounts:
        """The counts of a topic that exists."""
        counts = self._topics.get(topic)
        if counts is None:
            counts = self._topics[topic] = TopicCounts()
        return counts

    def metadata_changed(self, delta: "MetadataDelta", image: "MetadataImage") -> None:
        """Forgets what was deleted."""
        for topic in delta.topics.deleted.values():
            counts = self._topics.pop(topic.name, None)
            if counts is not None:
                self._deleted.add(counts)

    def _collector(self, attribute: str) -> Callable[[], Samples]:
        def collect() -> Iterator[tuple[dict[str, str], int]]:
            counted = {topic: getattr(counts, attribute) for topic, counts in self._topics.items()}
            yield {"topic": ""}, getattr(self._deleted, attribute) + sum(counted.values())
            for topic, count in counted.items():
                yield {"topic": topic}, count

        return collect
