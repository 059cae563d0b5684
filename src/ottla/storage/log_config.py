"""A partition's settings as `Log` and the manager read them: one frozen value, shared by all partitions of a topic.

`LogConfig` has a field per key of `log_config_keys` but the internal ones, dots turned into underscores. It is
replaced, never changed: a live change hands every partition of the topic a new one, and readers that hold the old
one stay consistent.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Self, cast

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen
from ottla.storage.log_config_keys import (
    DAY_MS,
    HOUR_MS,
    LOCAL_RETENTION_FOLLOWS,
    LOG_CONFIG_KEYS,
    LONG_MAX,
    MIB,
    WEEK_MS,
)


@frozen(kw_only=True)
class LogConfig:
    """The settings of one topic's logs.

    >>> config = LogConfig.parse({"cleanup.policy": "compact", "segment.ms": "1000"})
    >>> config.compact, config.delete, config.segment_ms, config.retention_ms
    (True, False, 1000, 604800000)
    """

    segment_bytes: int = 1 << 30
    segment_ms: int = WEEK_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * MIB
    index_interval_bytes: int = 4096
    preallocate: bool = False
    file_delete_delay_ms: int = 60_000
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    flush_on_ack: bool = False
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    retention_bytes: int = -1
    retention_ms: int = WEEK_MS
    local_retention_bytes: int = LOCAL_RETENTION_FOLLOWS
    local_retention_ms: int = LOCAL_RETENTION_FOLLOWS
    remote_storage_enable: bool = False
    remote_log_copy_disable: bool = False
    remote_log_delete_on_disable: bool = False
    delete_retention_ms: int = DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX
    min_cleanable_dirty_ratio: float = 0.5
    max_message_bytes: int = MIB + 12
    decompressed_message_max_bytes: int = 100 * MIB
    compression_type: str = "producer"
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_after_max_ms: int = HOUR_MS
    min_insync_replicas: int = 1
    unclean_leader_election_enable: bool = False
    leader_replication_throttled_replicas: tuple[str, ...] = ()
    follower_replication_throttled_replicas: tuple[str, ...] = ()

    @classmethod
    def parse(cls, overrides: Mapping[str, object], defaults: Self | None = None) -> Self:
        """A topic's settings: `overrides` by dotted name, all else from `defaults` (the broker's).

        `ConfigError` for a name that is none of the keys, a bad value, or values that contradict each other.
        """
        given: dict[str, object] = {}
        for name, raw in overrides.items():
            if name not in LOG_CONFIG_KEYS:
                nearest = LOG_CONFIG_KEYS.nearest(name)
                hint = f", did you mean {nearest}?" if nearest else ""
                raise ConfigError(name, raw, f"Unknown topic config name: {name}{hint}")
            given[field_name(name)] = _field_value(name, LOG_CONFIG_KEYS[name].parse(raw))
        tiny = given.pop("internal_segment_bytes", None)
        if tiny is not None:
            given["segment_bytes"] = tiny
        config = replace(defaults if defaults is not None else cls(), **given)  # type: ignore[arg-type]
        config._check_together()
        return config

    @property
    def compact(self) -> bool:
        """Whether the cleaner keeps only the last record of each key."""
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        """Whether segments are dropped by age and size."""
        return "delete" in self.cleanup_policy

    @property
    def segment_ms_max(self) -> int:
        """The age at which a segment is rolled: no older than compaction may lag, as only closed segments compact."""
        if self.compact and self.max_compaction_lag_ms > 0:
            return min(self.max_compaction_lag_ms, self.segment_ms)
        return self.segment_ms

    def _check_together(self) -> None:
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            raise ConfigError(
                "min.compaction.lag.ms",
                self.min_compaction_lag_ms,
                f"it is above max.compaction.lag.ms ({self.max_compaction_lag_ms})",
            )
        if self.remote_storage_enable:
            self._check_remote()

    def _check_remote(self) -> None:
        if self.compact:
            raise ConfigError("remote.storage.enable", True, "compacted topics cannot be tiered")
        for unit, local, total in (
            ("bytes", self.local_retention_bytes, self.retention_bytes),
            ("ms", self.local_retention_ms, self.retention_ms),
        ):
            if local == LOCAL_RETENTION_FOLLOWS:
                continue
            name = f"local.retention.{unit}"
            if local == -1 and total != -1:
                raise ConfigError(name, local, f"Value must not be -1 as retention.{unit} is set to {total}.")
            if total != -1 and local > total:
                raise ConfigError(name, local, f"Value must not be more than retention.{unit}: {total}")
            if self.remote_log_copy_disable and local != total:
                raise ConfigError(name, local, f"Value must equal retention.{unit} with remote.log.copy.disable")


def field_name(key: str) -> str:
    """The field that holds the setting `key`.

    >>> field_name("retention.ms")
    'retention_ms'
    """
    return key.replace(".", "_")


def _field_value(key: str, value: object) -> object:
    return frozenset(cast(tuple[str, ...], value)) if key == "cleanup.policy" else value


def topic_value(config: LogConfig, key: str) -> object:
    """The value of setting `key` in `config`, in the type its `ConfigKey` renders."""
    value = getattr(config, field_name(key))
    return tuple(sorted(value)) if key == "cleanup.policy" else value


DEFAULT_LOG_CONFIG: Final = LogConfig()
"""Kafka's own defaults."""
