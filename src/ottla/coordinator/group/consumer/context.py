"""The environment of consumer groups, and a group's present settings."""

from collections.abc import Callable

from ottla.base.chance import Chance
from ottla.base.frozen import frozen
from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.rebalance_reason import RebalanceLog
from ottla.coordinator.ports import MetadataView


@frozen(kw_only=True)
class ConsumerGroupContext:
    """The objects that all shards of a broker share."""

    config: GroupConfig
    chance: Chance
    metadata: MetadataView
    rebalance_log: RebalanceLog
    image_version: Callable[[], int]
    """The offset of the newest metadata, which is written down with what expressions matched in it."""
    hashes: TopicHashes
    """Of one broker, since a topic of many partitions takes milliseconds, whatever shard asks first."""

    def session_timeout_ms(self, group_id: str) -> int:
        """The time after which a silent member is fenced."""
        config = self.config.consumer
        limits = (config.min_session_timeout_ms, config.max_session_timeout_ms)
        return self._setting(group_id, "consumer.session.timeout.ms", config.session_timeout_ms, limits)

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """The interval between the heartbeats of members."""
        config = self.config.consumer
        limits = (config.min_heartbeat_interval_ms, config.max_heartbeat_interval_ms)
        return self._setting(group_id, "consumer.heartbeat.interval.ms", config.heartbeat_interval_ms, limits)

    def assignment_interval_ms(self, group_id: str) -> int:
        """The least time between two assignments, so that many joins share one (KIP-1263)."""
        config = self.config.consumer
        limits = (config.min_assignment_interval_ms, config.max_assignment_interval_ms)
        return self._setting(group_id, "consumer.assignment.interval.ms", config.assignment_interval_ms, limits)

    def _setting(self, group_id: str, name: str, default: int, limits: tuple[int, int]) -> int:
        """The group's own config, within the broker's limits, which may have changed since it was set."""
        text = self.metadata.group_configs(group_id).get(name)
        if text is None:
            return default
        return min(max(int(text), limits[0]), limits[1])
