"""`controller_mutation_rate`: how many partitions a client may have made or deleted (KIP-599).

A metadata listener of nodes that are controllers. Loop thread only. Clients that know of the quota (`is_strict`) are
refused topic by topic with THROTTLING_QUOTA_EXCEEDED once they have overdrawn it, and try again; older ones get what
they ask for, and are told to wait.
"""

from typing import Final

from immutables import Map

from ottla.base.clock import Clock
from ottla.broker.quota.callback import QuotaCallback
from ottla.broker.quota.client_quota import QuotaWindows
from ottla.broker.quota.precedence import Share, applied
from ottla.broker.quota.token_bucket import TokenBucket
from ottla.metadata.image.client_quota import QuotaEntity, Quotas
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.errors import ThrottlingQuotaExceededError

CONTROLLER_MUTATION: Final = "controller_mutation_rate"
_BUCKETS_MIN: Final = 1_000
"""Buckets that are full again are removed only beyond this number."""


class MutationCharge:
    """One request's account."""

    __slots__ = ("_bucket", "_clock", "_is_strict")

    def __init__(self, bucket: TokenBucket | None, clock: Clock, *, is_strict: bool) -> None:
        self._bucket: Final = bucket
        self._clock: Final = clock
        self._is_strict: Final = is_strict

    def charge(self, partitions: int) -> None:
        """Charges for partitions; `ThrottlingQuotaExceededError` if the quota was overdrawn before."""
        if self._bucket is None:
            return
        now_ms = self._clock.monotonic_ms()
        if self._is_strict and self._bucket.wait_ms(now_ms):
            raise ThrottlingQuotaExceededError
        self._bucket.take(partitions, now_ms)

    @property
    def wait_ms(self) -> int:
        """The wait until the client's next change."""
        return 0 if self._bucket is None else self._bucket.wait_ms(self._clock.monotonic_ms())


class MutationQuotas:
    """The buckets of all who have the quota."""

    def __init__(self, windows: QuotaWindows, clock: Clock, callback: QuotaCallback | None = None) -> None:
        self._callback: Final = callback
        self._clock: Final = clock
        self._burst_seconds: Final = windows.quota_window_num * windows.quota_window_size_seconds
        self._stored: Map[QuotaEntity, Quotas] = Map()
        self._buckets: Final[dict[Share, TokenBucket]] = {}
        self._sweep_at = _BUCKETS_MIN

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes over what is stored now."""
        if delta.client_quotas.changes:
            self._stored = image.client_quotas

    def account(self, user: str, client_id: str, *, is_strict: bool) -> MutationCharge:
        """The bucket that a request of a user's client is charged to."""
        quota = applied(self._stored, CONTROLLER_MUTATION, user, client_id)
        if self._callback is not None:
            quota = self._callback.applied(CONTROLLER_MUTATION, Share(user, client_id), quota)
        if quota is None:
            return MutationCharge(None, self._clock, is_strict=is_strict)
        bucket = self._buckets.get(quota.share)
        if bucket is None:
            self._sweep()
            now_ms = self._clock.monotonic_ms()
            bucket = TokenBucket(rate=quota.limit, burst_seconds=self._burst_seconds, now_ms=now_ms)
            self._buckets[quota.share] = bucket
        bucket.rate = quota.limit
        return MutationCharge(bucket, self._clock, is_strict=is_strict)

    def _sweep(self) -> None:
        """Drops buckets that are not overdrawn, each time their number has doubled."""
        if len(self._buckets) < self._sweep_at:
            return
        now_ms = self._clock.monotonic_ms()
        idle_ms = now_ms - self._burst_seconds * 1000
        idle = [share for share, bucket in self._buckets.items() if bucket.used_ms < idle_ms]
        for share in idle:
            if not self._buckets[share].wait_ms(now_ms):
                del self._buckets[share]
        self._sweep_at = max(2 * len(self._buckets), _BUCKETS_MIN)
