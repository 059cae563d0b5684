"""The quotas of all clients of a broker, taken from the metadata, and what each of them has used.

A metadata listener. Loop thread only. What applies to a client is looked up once and kept until a quota changes; a
change acts at once on clients that run, and what they have used before still counts. A bucket that was not used for as
long as its samples last is as good as a new one, so it is dropped: clients that come under ever new names cost nothing
in the long run.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from immutables import Map

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.base.metric import MetricKind, MetricRegistry, Samples
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.quota.bucket import Bucket
from ottla.broker.quota.callback import QuotaCallback
from ottla.broker.quota.precedence import Share, applied
from ottla.metadata.image.client_quota import QuotaEntity, Quotas
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage

PRODUCE: Final = "producer_byte_rate"
FETCH: Final = "consumer_byte_rate"
REQUEST: Final = "request_percentage"

_KINDS: Final = {
    PRODUCE: ("produce", "byte_rate", "Bytes a second"),
    FETCH: ("fetch", "byte_rate", "Bytes a second"),
    REQUEST: ("request", "request_time", "Percent of a thread"),
}
"""The quotas that are kept here, with Kafka's names of their metrics: `kafka.server:type=Produce`, its `byte-rate` …"""
_BUCKETS_MIN: Final = 1_000
"""Idle buckets are removed only beyond this number."""
_CALLBACK_MS: Final = 1_000
"""How long an answer of an operator's callback is cached."""
_SHOWN_MAX: Final = 1_000
"""The number of shares with metrics of their own: the last used ones."""


@frozen(kw_only=True)
class QuotaWindows:
    """Over what rates are measured; each field is the config of the same name, dots for underscores."""

    quota_window_num: int = 11
    quota_window_size_seconds: int = 1


def quota_windows(config: ServerConfig, prefix: str = "") -> QuotaWindows:
    """The windows of a node's config; those of changes that the controller makes have the prefix `controller.`."""
    return QuotaWindows(
        quota_window_num=config.integer(f"{prefix}quota.window.num"),
        quota_window_size_seconds=config.integer(f"{prefix}quota.window.size.seconds"),
    )


class Entitlement(NamedTuple):
    """The limits of one user's client; None where it has no quota."""

    produce: Bucket | None
    fetch: Bucket | None
    request: Bucket | None


class ClientQuotas:
    """Looks up buckets by user and client id."""

    def __init__(
        self, windows: QuotaWindows, clock: Clock, metrics: MetricRegistry, callback: QuotaCallback | None = None
    ) -> None:
        self._windows: Final = windows
        self._clock: Final = clock
        self._stored: Map[QuotaEntity, Quotas] = Map()
        self._entitlements: Final[dict[Share, Entitlement]] = {}
        self._buckets: Final[dict[tuple[str, Share], Bucket]] = {}
        self._sweep_at = _BUCKETS_MIN
        self._watchers: Final[list[Callable[[], object]]] = []
        self._callback: Final = callback
        self._asked_ms = 0
        """When the callback's answers were last dropped."""
        self.is_active = callback is not None
        """Whether any client has a quota."""
        for key, (name, rate, unit) in _KINDS.items():
            prefix = f"kafka_server_{name}"
            doc = f"{unit} that those who share a {name} quota use."
            metrics.collector(f"{prefix}_{rate}", doc, self._shown_by(key, Bucket.per_second))
            doc = f"Milliseconds that clients had to wait for a {name} quota, on average of the last waits."
            metrics.collector(f"{prefix}_throttle_time", doc, self._shown_by(key, Bucket.throttle_time_ms))
            doc = f"How often clients waited for a {name} quota."
            waits = self._shown_by(key, lambda bucket, _: bucket.throttled)
            metrics.collector(f"{prefix}_throttled_total", doc, waits, MetricKind.COUNTER)

    @property
    def now_ms(self) -> int:
        """The time that rates are measured in."""
        return self._clock.monotonic_ms()

    def watch(self, changed: Callable[[], object]) -> None:
        """Calls back whenever `is_active` has changed."""
        self._watchers.append(changed)

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes over what is stored now."""
        if not delta.client_quotas.changes:
            return
        self._stored = image.client_quotas
        self._entitlements.clear()
        limits_any = self._callback is not None or any(_limits_clients(quotas) for quotas in self._stored.values())
        was_active, self.is_active = self.is_active, limits_any
        if was_active is not self.is_active:
            for changed in self._watchers:
                changed()

    def of(self, user: str, client_id: str) -> Entitlement:
        """The limits of a user's client."""
        client = Share(user, client_id)
        if self._callback is not None and self.now_ms - self._asked_ms >= _CALLBACK_MS:
            self._asked_ms = self.now_ms
            self._entitlements.clear()
        found = self._entitlements.get(client)
        if found is None:
            self._sweep()
            found = Entitlement(*(self._bucket(key, client) for key in _KINDS))
            self._entitlements[client] = found
        return found

    def _bucket(self, key: str, client: Share) -> Bucket | None:
        quota = applied(self._stored, key, *client)
        if self._callback is not None:
            quota = self._callback.applied(key, client, quota)
        if quota is None:
            return None
        bucket = self._buckets.get((key, quota.share))
        if bucket is None:
            bucket = self._buckets[key, quota.share] = self._new_bucket(key, quota.limit)
        bucket.limit = quota.limit
        return bucket

    def _new_bucket(self, key: str, limit: float) -> Bucket:
        window_ms = self._windows.quota_window_size_seconds * 1000
        bucket = Bucket(
            limit,
            windows=self._windows.quota_window_num,
            window_ms=window_ms,
            throttle_ms_max=window_ms if key == REQUEST else None,
        )
        bucket.used_ms = self.now_ms
        return bucket

    def _sweep(self) -> None:
        """Drops buckets that are as good as new, each time their number has doubled."""
        if max(len(self._buckets), len(self._entitlements)) < self._sweep_at:
            return
        idle_ms = self.now_ms - self._windows.quota_window_num * self._windows.quota_window_size_seconds * 1000
        for name in [name for name, bucket in self._buckets.items() if bucket.used_ms < idle_ms]:
            del self._buckets[name]
        self._entitlements.clear()
        self._sweep_at = max(2 * len(self._buckets), _BUCKETS_MIN)

    # Metrics

    def _shown(self, key: str) -> list[tuple[Mapping[str, str], Bucket]]:
        buckets = [(share, bucket) for (kind, share), bucket in self._buckets.items() if kind == key]
        buckets.sort(key=lambda shown: -shown[1].used_ms)
        return [({"user": share.user, "client_id": share.client_id}, bucket) for share, bucket in buckets[:_SHOWN_MAX]]

    def _shown_by(self, key: str, value: Callable[[Bucket, int], float]) -> Callable[[], Samples]:
        def collect() -> Iterator[tuple[Mapping[str, str], float]]:
            now_ms = self.now_ms
            for labels, bucket in self._shown(key):
                yield labels, value(bucket, now_ms)

        return collect


def _limits_clients(quotas: Quotas) -> bool:
    return any(key in quotas for key in _KINDS)
