"""The settings of the metadata log: how large its segments get and how long old snapshots are kept."""

from collections.abc import Mapping
from typing import Final, Self, cast

from ottla.base.config import ConfigKey, ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.storage.log_config import LogConfig

_MIB: Final = 1 << 20
_WEEK_MS: Final = 7 * 24 * 3_600_000
BATCH_BYTES_MAX: Final = 8 * _MIB
"""The largest batch that a quorum writes: a segment has room for at least one."""

METADATA_LOG_CONFIG_KEYS: Final = ConfigKeys((
    ConfigKey("metadata.log.segment.bytes", ConfigType.INT, 1 << 30, check=Range(BATCH_BYTES_MAX),
              doc="Size at which a segment of the metadata log is rolled."),
    ConfigKey("metadata.log.segment.ms", ConfigType.LONG, _WEEK_MS, check=Range(1),
              doc="Age at which a segment of the metadata log is rolled."),
    ConfigKey("metadata.max.retention.bytes", ConfigType.LONG, 100 * _MIB, check=Range(-1),
              doc="Size of log and snapshots above which old snapshots, and the log before them, go; -1: never."),
    ConfigKey("metadata.max.retention.ms", ConfigType.LONG, _WEEK_MS, check=Range(-1),
              doc="Age above which old snapshots, and the log before them, go; -1: never."),
))  # fmt: skip


@frozen(kw_only=True)
class MetadataLogConfig:
    """The settings of the metadata log.

    >>> values = METADATA_LOG_CONFIG_KEYS.parse({"metadata.max.retention.ms": "-1"}).values
    >>> MetadataLogConfig.of(values).retention_ms
    -1
    """

    segment_bytes: int = 1 << 30
    segment_ms: int = _WEEK_MS
    retention_bytes: int = 100 * _MIB
    retention_ms: int = _WEEK_MS

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """The settings in a node's parsed configuration."""
        return cls(
            segment_bytes=cast(int, values["metadata.log.segment.bytes"]),
            segment_ms=cast(int, values["metadata.log.segment.ms"]),
            retention_bytes=cast(int, values["metadata.max.retention.bytes"]),
            retention_ms=cast(int, values["metadata.max.retention.ms"]),
        )

    @property
    def log_config(self) -> LogConfig:
        """The settings of the log itself: age and size delete nothing, only a snapshot makes records dispensable."""
        return LogConfig(
            segment_bytes=self.segment_bytes,
            segment_ms=self.segment_ms,
            retention_bytes=-1,
            retention_ms=-1,
            max_message_bytes=BATCH_BYTES_MAX,
        )
