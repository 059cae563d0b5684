"""The metrics of a membership, under Kafka's names."""

import math
import time
from collections.abc import Callable
from typing import Final

from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.metric.sensor import Sensor

GROUP: Final = "consumer-coordinator-metrics"
_SECONDS_PER_HOUR: Final = 3_600


class MembershipMetrics:
    """The metrics of one membership; times are in milliseconds."""

    def __init__(self, metrics: ClientMetrics) -> None:
        self._metrics: Final = metrics
        self.heartbeats: Final = metrics.sensor()
        self.joins: Final = metrics.sensor()
        self.syncs: Final = metrics.sensor()
        self.rebalances: Final = metrics.sensor()
        self.failed_rebalances: Final = metrics.sensor()
        self._heartbeat_s = self._rebalance_s = math.nan
        beats, rebalances, failed = self.heartbeats, self.rebalances, self.failed_rebalances
        self._show("heartbeat-response-time-max", beats.largest, "The longest time until a heartbeat was answered.")
        self._show("heartbeat-rate", beats.event_rate, "Heartbeats per second.")
        self._show("heartbeat-total", beats.event_count, "How many heartbeats were answered.")
        self._show("last-heartbeat-seconds-ago", lambda: _ago(self._heartbeat_s), "Seconds since the last heartbeat.")
        self._show_latency("join", self.joins, "the group joined")
        self._show_latency("sync", self.syncs, "the assignment came")
        self._show("rebalance-latency-avg", rebalances.average, "The average time that a rebalance took.")
        self._show("rebalance-latency-max", rebalances.largest, "The longest time that a rebalance took.")
        self._show("rebalance-latency-total", rebalances.sum, "The time that all rebalances took.")
        self._show("rebalance-total", rebalances.event_count, "How many rebalances this consumer took part in.")
        self._show("rebalance-rate-per-hour", lambda: _per_hour(rebalances), "Rebalances per hour.")
        self._show("last-rebalance-seconds-ago", lambda: _ago(self._rebalance_s), "Seconds since the last rebalance.")
        self._show("failed-rebalance-total", failed.event_count, "How many rebalances failed.")
        self._show("failed-rebalance-rate-per-hour", lambda: _per_hour(failed), "Failed rebalances per hour.")

    def heartbeat_answered(self, took_ms: float) -> None:
        """A heartbeat came back."""
        self._heartbeat_s = time.monotonic()
        self.heartbeats.record(took_ms)

    def rebalanced(self, took_ms: float) -> None:
        """A rebalance came to its end."""
        self._rebalance_s = time.monotonic()
        self.rebalances.record(took_ms)

    def _show(self, name: str, value: Callable[[], float], doc: str) -> None:
        self._metrics.show(name, value, GROUP, doc=doc)

    def _show_latency(self, what: str, sensor: Sensor, until: str) -> None:
        self._show(f"{what}-time-avg", sensor.average, f"The average time until {until}.")
        self._show(f"{what}-time-max", sensor.largest, f"The longest time until {until}.")
        self._show(f"{what}-rate", sensor.event_rate, f"How often per second {until}.")
        self._show(f"{what}-total", sensor.event_count, f"How often {until}.")


def _ago(moment_s: float) -> float:
    """-1 if it never was, as in Kafka."""
    return -1.0 if math.isnan(moment_s) else float(int(time.monotonic() - moment_s))


def _per_hour(sensor: Sensor) -> float:
    return sensor.event_rate() * _SECONDS_PER_HOUR
