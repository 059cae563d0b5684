"""Limits the rate of records to and from named replicas, and between directories (KIP-73, KIP-113).

A throttle that is exceeded delays the replicas that it names and that are not in sync. Replicas in sync are never
delayed, but their bytes count. The rate is measured as Kafka does: the bytes of the last samples over the time since
the oldest began, so that it is kept in the mean, and one large fetch is paid for afterwards.

Limit 1,000, samples of a second: 4,000 bytes at once are waited for until the fourth second is over.
"""

from collections.abc import Callable
from typing import Final

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.base.rate import Rate
from ottla.replication.partition.partition import Partition
from ottla.replication.settings import ReplicationSettings
from ottla.storage.log_config import LogConfig

UNLIMITED: Final = (1 << 63) - 1


@frozen(kw_only=True)
class ThrottleLimits:
    """Bytes a second; each field is the dynamic config of the same name, dots for underscores."""

    leader_replication_throttled_rate: int = UNLIMITED
    follower_replication_throttled_rate: int = UNLIMITED
    replica_alter_log_dirs_io_max_bytes_per_second: int = UNLIMITED


class Throttle:
    """One limit: `replicas_of` says which list of a topic's configs names the replicas that it is for."""

    def __init__(self, clock: Clock, rate: Rate, node_id: int, replicas_of: Callable[[LogConfig], tuple[str, ...]]):
        self.limit = UNLIMITED
        self._clock: Final = clock
        self._rate: Final = rate
        self._node_id: Final = node_id
        self._replicas_of: Final = replicas_of

    @property
    def is_exceeded(self) -> bool:
        """Whether those that it names have to wait."""
        return self.limit != UNLIMITED and self._rate.per_second(self._clock.monotonic_ms()) > self.limit

    def names(self, partition: Partition) -> bool:
        """Whether it is for this broker's replica of the partition."""
        replicas = self._replicas_of(partition.log.config)
        return bool(replicas) and ("*" in replicas or f"{partition.index}:{self._node_id}" in replicas)

    def record(self, partition: Partition, size_bytes: int) -> None:
        """Counts what was moved, if it is for the partition."""
        if self.limit != UNLIMITED and size_bytes and self.names(partition):
            self._rate.record(size_bytes, self._clock.monotonic_ms())


class Throttles:
    """All of a broker's."""

    def __init__(self, node_id: int, clock: Clock, settings: ReplicationSettings) -> None:
        def of_replication(replicas_of: Callable[[LogConfig], tuple[str, ...]]) -> Throttle:
            sample_ms = settings.replication_quota_window_size_seconds * 1000
            rate = Rate(samples=settings.replication_quota_window_num, sample_ms=sample_ms)
            return Throttle(clock, rate, node_id, replicas_of)

        self.leader: Final = of_replication(lambda config: config.leader_replication_throttled_replicas)
        self.follower: Final = of_replication(lambda config: config.follower_replication_throttled_replicas)
        moved = Rate(
            samples=settings.alter_log_dirs_replication_quota_window_num,
            sample_ms=settings.alter_log_dirs_replication_quota_window_size_seconds * 1000,
        )
        self.moves: Final = Throttle(clock, moved, node_id, lambda config: ("*",))

    def change(self, limits: ThrottleLimits) -> None:
        """Other limits from now on."""
        self.leader.limit = limits.leader_replication_throttled_rate
        self.follower.limit = limits.follower_replication_throttled_rate
        self.moves.limit = limits.replica_alter_log_dirs_io_max_bytes_per_second
