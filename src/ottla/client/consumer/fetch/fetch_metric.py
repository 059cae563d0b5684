"""The metrics of fetching, under Kafka's names: in sum, by topic, and for each partition its lag.

Recorded per fetch and per poll, never per record. Sensors have one writer each: `fetched` and `received` are the event
loop's, `consumed` and `polled` the user's.
"""

import math
from typing import Final, NamedTuple

from ottla.client.consumer.subscription_state import PartitionState, SubscriptionState
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.metric.sensor import Sensor
from ottla.client.record import TopicPartition

GROUP: Final = "consumer-fetch-manager-metrics"
POLL_GROUP: Final = "consumer-metrics"


class _Topic(NamedTuple):
    sizes: Sensor
    records: Sensor


class _Partition(NamedTuple):
    lags: Sensor
    leads: Sensor


class FetchMetrics:
    """The metrics of one consumer's fetches."""

    def __init__(self, metrics: ClientMetrics, subscription: SubscriptionState, *, is_committed_only: bool) -> None:
        self._metrics: Final = metrics
        self._subscription: Final = subscription
        self._is_committed_only: Final = is_committed_only
        self._latencies: Final = metrics.sensor()
        self._throttles: Final = metrics.sensor()
        self._sizes: Final = metrics.sensor()
        self._records: Final = metrics.sensor()
        self._lags: Final = metrics.sensor()
        self._polls: Final = metrics.sensor()
        self._polled_at_s = 0.0
        self._topics: Final[dict[str, _Topic]] = {}
        self._partitions: Final[dict[TopicPartition, _Partition]] = {}
        self._show_all()

    def fetched(self, latency_s: float, throttle_time_ms: int) -> None:
        """An answer came."""
        self._latencies.record(latency_s * 1000)
        self._throttles.record(throttle_time_ms)

    def received(self, state: PartitionState, size_bytes: int) -> None:
        """It had bytes of a partition."""
        self._sizes.record(size_bytes)
        self._topic(state.partition.topic).sizes.record(size_bytes)

    def consumed(self, state: PartitionState, count: int) -> None:
        """The user took records."""
        self._records.record(count)
        self._topic(state.partition.topic).records.record(count)
        found, lag, lead = self._partitions.get(state.partition), self.lag(state), _lead(state)
        if not math.isnan(lag):
            self._lags.record(lag)
            if found is not None:
                found.lags.record(lag)
        if found is not None and not math.isnan(lead):
            found.leads.record(lead)

    def polled(self) -> None:
        """The user polls."""
        now_s = self._metrics.clock()
        if self._polled_at_s:
            self._polls.record((now_s - self._polled_at_s) * 1000)
        self._polled_at_s = now_s

    def lag(self, state: PartitionState) -> float:
        """The number of offsets between a position and the end that it can reach; NaN if unknown."""
        end = state.last_stable_offset if self._is_committed_only else state.high_watermark
        return math.nan if end is None or state.position is None else max(0, end - state.position.offset)

    def assigned(self) -> None:
        """Partitions came or went."""
        partitions = self._subscription.assignment()
        for partition in self._partitions.keys() - partitions:
            self._metrics.hide(GROUP, _tags(partition))
            del self._partitions[partition]
        for partition in partitions - self._partitions.keys():
            self._partitions[partition] = _Partition(self._metrics.sensor(), self._metrics.sensor())
            self._show_partition(partition, *self._partitions[partition])

    def _topic(self, name: str) -> _Topic:
        found = self._topics.get(name)
        if found is None:
            # The loop sees a topic first: it is here before the user's thread asks.
            found = self._topics.setdefault(name, _Topic(self._metrics.sensor(), self._metrics.sensor()))
            show, tags = self._metrics.show, {"topic": name}
            show("fetch-size-avg", found.sizes.average, GROUP, tags)
            show("fetch-size-max", found.sizes.largest, GROUP, tags)
            show("bytes-consumed-rate", found.sizes.rate, GROUP, tags)
            show("bytes-consumed-total", found.sizes.sum, GROUP, tags)
            show("records-per-request-avg", found.records.average, GROUP, tags)
            show("records-consumed-rate", found.records.rate, GROUP, tags)
            show("records-consumed-total", found.records.sum, GROUP, tags)
        return found

    def _show_partition(self, partition: TopicPartition, lags: Sensor, leads: Sensor) -> None:
        def lag() -> float:
            state = self._subscription.assigned.get(partition)
            return math.nan if state is None else self.lag(state)

        def lead() -> float:
            state = self._subscription.assigned.get(partition)
            return math.nan if state is None else _lead(state)

        def replica() -> float:
            state = self._subscription.assigned.get(partition)
            return -1 if state is None or state.read_replica is None else state.read_replica

        tags = _tags(partition)
        show = self._metrics.show
        show("records-lag", lag, GROUP, tags, doc="The latest lag of the partition.")
        show("records-lag-avg", lags.average, GROUP, tags, doc="The average lag of the partition.")
        show("records-lag-max", lags.largest, GROUP, tags, doc="The maximum lag of the partition.")
        show("records-lead", lead, GROUP, tags, doc="The latest lead of the partition.")
        show("records-lead-avg", leads.average, GROUP, tags, doc="The average lead of the partition.")
        show("records-lead-min", leads.smallest, GROUP, tags, doc="The minimum lead of the partition.")
        show("preferred-read-replica", replica, GROUP, tags, doc="The replica read from; -1: the leader.")

    def _show_all(self) -> None:
        show = self._metrics.show
        show("fetch-latency-avg", self._latencies.average, GROUP, doc="The average time taken for a fetch request.")
        show("fetch-latency-max", self._latencies.largest, GROUP, doc="The max time taken for any fetch request.")
        show("fetch-rate", self._latencies.event_rate, GROUP, doc="The number of fetch requests per second.")
        show("fetch-total", self._latencies.event_count, GROUP, doc="The total number of fetch requests.")
        show("fetch-throttle-time-avg", self._throttles.average, GROUP, doc="The average throttle time in ms.")
        show("fetch-throttle-time-max", self._throttles.largest, GROUP, doc="The maximum throttle time in ms.")
        show("fetch-size-avg", self._sizes.average, GROUP, doc="The average number of bytes fetched per request.")
        show("fetch-size-max", self._sizes.largest, GROUP, doc="The maximum number of bytes fetched per request.")
        show("bytes-consumed-rate", self._sizes.rate, GROUP, doc="The average number of bytes consumed per second.")
        show("bytes-consumed-total", self._sizes.sum, GROUP, doc="The total number of bytes consumed.")
        show("records-per-request-avg", self._records.average, GROUP, doc="The average number of records per request.")
        show("records-consumed-rate", self._records.rate, GROUP, doc="The average number of records per second.")
        show("records-consumed-total", self._records.sum, GROUP, doc="The total number of records consumed.")
        show("records-lag-max", self._lags.largest, GROUP, doc="The maximum lag in records of any partition.")
        show("records-lead-min", self._lead_min, GROUP, doc="The minimum lead in records of any partition.")
        show("time-between-poll-avg", self._polls.average, POLL_GROUP, doc="The average time between polls in ms.")
        show("time-between-poll-max", self._polls.largest, POLL_GROUP, doc="The max time between polls in ms.")
        show("last-poll-seconds-ago", self._since_poll, POLL_GROUP, doc="Seconds since the last poll; -1 before it.")

    def _since_poll(self) -> float:
        return -1 if not self._polled_at_s else int(self._metrics.clock() - self._polled_at_s)

    def _lead_min(self) -> float:
        leads = map(_lead, self._subscription.assigned.values())
        return min((lead for lead in leads if not math.isnan(lead)), default=math.nan)


def _lead(state: PartitionState) -> float:
    """The number of offsets between the start of the partition and a position; NaN if unknown."""
    if state.position is None or state.log_start_offset is None:
        return math.nan
    return state.position.offset - state.log_start_offset


def _tags(partition: TopicPartition) -> dict[str, str]:
    return {"topic": partition.topic, "partition": str(partition.partition)}
