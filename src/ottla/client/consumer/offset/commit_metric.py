"""The metrics of commits, under Kafka's names."""

from typing import Final

from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.client.metric.client_metric import ClientMetrics

GROUP: Final = "consumer-coordinator-metrics"


class CommitMetrics:
    """The metrics of one consumer's commits."""

    def __init__(self, metrics: ClientMetrics, subscription: SubscriptionState) -> None:
        self._latencies: Final = metrics.sensor()
        show, latencies = metrics.show, self._latencies
        show("commit-latency-avg", latencies.average, GROUP, doc="The average time taken for a commit request.")
        show("commit-latency-max", latencies.largest, GROUP, doc="The max time taken for a commit request.")
        show("commit-rate", latencies.event_rate, GROUP, doc="The number of commit calls per second.")
        show("commit-total", latencies.event_count, GROUP, doc="The total number of commit calls.")
        show("assigned-partitions", lambda: len(subscription.assigned), GROUP, doc="How many partitions are assigned.")

    def committed(self, latency_s: float) -> None:
        """A commit was answered."""
        self._latencies.record(latency_s * 1000)
