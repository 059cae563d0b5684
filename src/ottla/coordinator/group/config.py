"""The settings of the group coordinator; the defaults are Kafka's."""

from typing import Final

from ottla.base.frozen import frozen

INT_MAX: Final = 2**31 - 1


@frozen(kw_only=True)
class ClassicGroupConfig:
    """Classic groups."""

    min_session_timeout_ms: int = 6_000
    """`group.min.session.timeout.ms`"""
    max_session_timeout_ms: int = 1_800_000
    """`group.max.session.timeout.ms`"""
    initial_rebalance_delay_ms: int = 3_000
    """`group.initial.rebalance.delay.ms`"""
    max_size: int = INT_MAX
    """`group.max.size`"""
    new_member_join_timeout_ms: int = 300_000
    """How long a member whose first join is not answered stays: it can't send heartbeats that would show it alive.
    Kafka's, and not to be configured there either."""


@frozen(kw_only=True)
class ConsumerGroupConfig:
    """Consumer groups (KIP-848); what a group's own configs say comes first, within the limits."""

    session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`"""
    min_session_timeout_ms: int = 45_000
    """`group.consumer.min.session.timeout.ms`"""
    max_session_timeout_ms: int = 60_000
    """`group.consumer.max.session.timeout.ms`"""
    heartbeat_interval_ms: int = 5_000
    """`group.consumer.heartbeat.interval.ms`"""
    min_heartbeat_interval_ms: int = 5_000
    """`group.consumer.min.heartbeat.interval.ms`"""
    max_heartbeat_interval_ms: int = 15_000
    """`group.consumer.max.heartbeat.interval.ms`"""
    max_size: int = INT_MAX
    """`group.consumer.max.size`"""
    assignors: tuple[str, ...] = ("uniform", "range")
    """`group.consumer.assignors`, the default first."""
    migration_policy: str = "bidirectional"
    """`group.consumer.migration.policy`, in lower case."""
    assignment_interval_ms: int = 1_000
    """`group.consumer.assignment.interval.ms`"""
    min_assignment_interval_ms: int = 0
    """`group.consumer.min.assignment.interval.ms`"""
    max_assignment_interval_ms: int = 15_000
    """`group.consumer.max.assignment.interval.ms`"""
    regex_refresh_interval_ms: int = 600_000
    """`group.consumer.regex.refresh.interval.ms`"""


@frozen(kw_only=True)
class GroupConfig:
    """Everything."""

    classic: ClassicGroupConfig = ClassicGroupConfig()
    consumer: ConsumerGroupConfig = ConsumerGroupConfig()
    offset_metadata_max_bytes: int = 4_096
    """`offset.metadata.max.bytes`"""
    offsets_retention_ms: int = 10_080 * 60_000
    """`offsets.retention.minutes`"""
    offsets_retention_check_interval_ms: int = 600_000
    """`offsets.retention.check.interval.ms`"""
    write_timeout_ms: int = 5_000
    """`offsets.commit.timeout.ms`: how long an answer waits for the replicas."""
