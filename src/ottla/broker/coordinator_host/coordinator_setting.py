"""From a node's settings to those of its coordinators."""

from typing import Final

from ottla.broker.config.server_config import ServerConfig
from ottla.coordinator.group.config import ClassicGroupConfig, ConsumerGroupConfig, GroupConfig
from ottla.coordinator.txn.config import TxnConfig

_MINUTE_MS: Final = 60_000


def group_config(config: ServerConfig) -> GroupConfig:
    """The group coordinator's settings."""
    return GroupConfig(
        classic=_classic(config),
        consumer=_consumer(config),
        offset_metadata_max_bytes=config.integer("offset.metadata.max.bytes"),
        offsets_retention_ms=config.integer("offsets.retention.minutes") * _MINUTE_MS,
        offsets_retention_check_interval_ms=config.integer("offsets.retention.check.interval.ms"),
        write_timeout_ms=config.integer("offsets.commit.timeout.ms"),
    )


def txn_config(config: ServerConfig) -> TxnConfig:
    """The transaction coordinator's settings."""
    return TxnConfig(
        transaction_timeout_ms_max=config.integer("transaction.max.timeout.ms"),
        id_expiration_ms=config.integer("transactional.id.expiration.ms"),
        id_expiration_interval_ms=config.integer("transaction.remove.expired.transaction.cleanup.interval.ms"),
        is_two_phase_commit_enabled=config.boolean("transaction.two.phase.commit.enable"),
        write_timeout_ms=config.integer("request.timeout.ms"),
        transaction_topic_partitions=config.integer("transaction.state.log.num.partitions"),
        offsets_topic_partitions=config.integer("offsets.topic.num.partitions"),
    )


def _classic(config: ServerConfig) -> ClassicGroupConfig:
    return ClassicGroupConfig(
        min_session_timeout_ms=config.integer("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.integer("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=config.integer("group.initial.rebalance.delay.ms"),
        max_size=config.integer("group.max.size"),
    )


def _consumer(config: ServerConfig) -> ConsumerGroupConfig:
    prefix = "group.consumer"
    return ConsumerGroupConfig(
        session_timeout_ms=config.integer(f"{prefix}.session.timeout.ms"),
        min_session_timeout_ms=config.integer(f"{prefix}.min.session.timeout.ms"),
        max_session_timeout_ms=config.integer(f"{prefix}.max.session.timeout.ms"),
        heartbeat_interval_ms=config.integer(f"{prefix}.heartbeat.interval.ms"),
        min_heartbeat_interval_ms=config.integer(f"{prefix}.min.heartbeat.interval.ms"),
        max_heartbeat_interval_ms=config.integer(f"{prefix}.max.heartbeat.interval.ms"),
        max_size=config.integer(f"{prefix}.max.size"),
        assignors=tuple(config.strings(f"{prefix}.assignors")),
        migration_policy=config.string(f"{prefix}.migration.policy").lower(),
        assignment_interval_ms=config.integer(f"{prefix}.assignment.interval.ms"),
        min_assignment_interval_ms=config.integer(f"{prefix}.min.assignment.interval.ms"),
        max_assignment_interval_ms=config.integer(f"{prefix}.max.assignment.interval.ms"),
        regex_refresh_interval_ms=config.integer(f"{prefix}.regex.refresh.interval.ms"),
    )
