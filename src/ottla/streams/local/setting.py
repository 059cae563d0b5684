"""Reads a configuration with Kafka Streams' names for the local host.

Settings of clients go to the consumer, the producer and the admin client; serdes and handlers stay in the configuration
that operators see. Settings of Kafka Streams that have no effect here are accepted.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.streams.host.setting_value import (
    Guarantee,
    application_id_of,
    client_settings,
    guarantee_of,
    number_of,
    offset_reset_of,
    replication_factor_of,
    text_of,
)
from ottla.streams.serving import application_server

_COMMIT_MS: Final = {Guarantee.EXACTLY_ONCE: 100, Guarantee.AT_LEAST_ONCE: 30_000}
_TRANSACTION_TIMEOUT_MS: Final = 10_000


@frozen
class LocalSettings:
    """The local host's part of a configuration."""

    application_id: str
    application_server: str
    guarantee: Guarantee
    state_dir: Path
    replication_factor: int | None
    offset_reset: str
    commit_interval_ms: int
    purge_interval_ms: int
    idle_ms_max: int
    buffered_records_max: int
    standby_replicas: int
    consumer: dict[str, Any]
    restore_consumer: dict[str, Any]
    global_consumer: dict[str, Any]
    producer: dict[str, Any]
    admin: dict[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "LocalSettings":
        """Reads them; `ConfigError` for one that cannot be.

        >>> found = LocalSettings.of({"application.id": "shop", "bootstrap.servers": "localhost:9092"})
        >>> found.guarantee.value, found.commit_interval_ms, found.consumer["max.poll.records"]
        ('at_least_once', 30000, 1000)
        """
        application_id = application_id_of(config)
        root = Path(text_of(config, "state.dir", str(Path(tempfile.gettempdir(), "kafka-streams"))))
        guarantee = guarantee_of(config)
        return cls(
            application_id=application_id,
            application_server=application_server(config),
            guarantee=guarantee,
            state_dir=root.absolute() / application_id,
            replication_factor=replication_factor_of(config),
            offset_reset=offset_reset_of(config),
            commit_interval_ms=number_of(config, "commit.interval.ms", _COMMIT_MS[guarantee]),
            purge_interval_ms=number_of(config, "repartition.purge.interval.ms", 30_000),
            idle_ms_max=number_of(config, "max.task.idle.ms", 0, at_least=-1),
            buffered_records_max=number_of(config, "buffered.records.per.partition", 1_000, at_least=1),
            standby_replicas=number_of(config, "num.standby.replicas", 0),
            consumer=_consumer(config, guarantee, "main.consumer."),
            restore_consumer=_consumer(config, guarantee, "restore.consumer."),
            global_consumer=_consumer(config, guarantee, "global.consumer."),
            producer=_producer(guarantee) | client_settings(config, PRODUCER_KEYS, "producer."),
            admin=client_settings(config, ADMIN_KEYS, "admin."),
        )

    @property
    def is_exactly_once(self) -> bool:
        """Whether outputs, changelogs and offsets are one transaction."""
        return self.guarantee is Guarantee.EXACTLY_ONCE


def _consumer(config: Mapping[str, Any], guarantee: Guarantee, prefix: str) -> dict[str, Any]:
    """Kafka Streams' defaults, the settings that are given, and what cannot be chosen."""
    is_exactly_once = guarantee is Guarantee.EXACTLY_ONCE
    return {
        "max.poll.records": 1_000,
        **client_settings(config, CONSUMER_KEYS, "consumer.", prefix),
        "auto.offset.reset": offset_reset_of(config),
        "enable.auto.commit": "false",
        "isolation.level": "read_committed" if is_exactly_once else "read_uncommitted",
    }


def _producer(guarantee: Guarantee) -> dict[str, Any]:
    if guarantee is Guarantee.AT_LEAST_ONCE:
        return {}
    return {"transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS}
