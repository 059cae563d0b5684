"""The settings of replication and of the work done on logs every now and then, with Kafka's defaults.

The node fills it from its configuration; a changed setting comes as a new value.
"""

from typing import Final

from ottla.base.frozen import frozen


@frozen(kw_only=True)
class ReplicationSettings:
    """Each field is the setting of the same name, dots for underscores, unless it says otherwise."""

    replica_lag_time_max_ms: int = 30_000
    replica_high_watermark_checkpoint_interval_ms: int = 5_000
    replica_fetch_backoff_ms: int = 1_000
    num_replica_fetchers: int = 1
    replica_selector_class: str | None = None
    """One of `replica_selector.SELECTORS`; None and others stand for the leader. Read once."""
    log_initial_task_delay_ms: int = 30_000
    log_retention_check_interval_ms: int = 300_000
    log_flush_scheduler_interval_ms: int = (1 << 63) - 1
    log_flush_offset_checkpoint_interval_ms: int = 60_000
    log_flush_start_offset_checkpoint_interval_ms: int = 60_000
    replication_quota_window_num: int = 11
    """These four are read once."""
    replication_quota_window_size_seconds: int = 1
    alter_log_dirs_replication_quota_window_num: int = 11
    alter_log_dirs_replication_quota_window_size_seconds: int = 1
    cordoned_log_dirs: frozenset[str] = frozenset()


DEFAULT_SETTINGS: Final = ReplicationSettings()
"""Kafka's own."""
