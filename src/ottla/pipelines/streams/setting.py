"""What a configuration with Kafka Streams' names means for the host.

Settings of clients (`bootstrap.servers`, security, `linger.ms` …) go to the source and the sink; serdes, handlers and
what else operators look at stay in the configuration that tasks see. Settings of Kafka Streams that decide nothing
here are accepted.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ottla.base.config import ConfigKeys
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


@frozen
class StreamsSettings:
    """The host's part of a configuration."""

    application_id: str
    guarantee: Guarantee
    state_dir: Path
    checkpoint: Path
    replication_factor: int | None
    offset_reset: str
    trigger_interval_ms: int
    offsets_per_trigger_max: int
    purge_interval_ms: int
    snapshot_dir: Path | None
    snapshot_interval_ms: int
    reader: dict[str, str]
    writer: dict[str, str]
    admin: dict[str, str]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "StreamsSettings":
        """Reads them; `ConfigError` for one that cannot be.

        >>> found = StreamsSettings.of({"application.id": "shop", "bootstrap.servers": "localhost:9092"})
        >>> found.guarantee.value, found.offset_reset, found.trigger_interval_ms
        ('at_least_once', 'earliest', 100)
        """
        application_id = application_id_of(config)
        root = Path(text_of(config, "state.dir", str(Path(tempfile.gettempdir(), "kafka-streams"))))
        state_dir = root.absolute() / application_id
        return cls(
            application_id=application_id,
            guarantee=guarantee_of(config),
            state_dir=state_dir,
            checkpoint=Path(text_of(config, "checkpoint.location", str(state_dir / "checkpoint"))),
            replication_factor=replication_factor_of(config),
            offset_reset=offset_reset_of(config),
            trigger_interval_ms=number_of(config, "trigger.interval.ms", 100),
            offsets_per_trigger_max=number_of(config, "max.offsets.per.trigger", 200_000),
            purge_interval_ms=number_of(config, "repartition.purge.interval.ms", 30_000),
            snapshot_dir=_directory(config, "state.snapshot.dir"),
            snapshot_interval_ms=number_of(config, "state.snapshot.interval.ms", 600_000),
            reader=_client(config, CONSUMER_KEYS, "consumer.", "main.consumer."),
            writer=_client(config, PRODUCER_KEYS, "producer."),
            admin=_client(config, ADMIN_KEYS, "admin."),
        )

    @property
    def is_exactly_once(self) -> bool:
        """Whether outputs, changelogs and offsets are one transaction."""
        return self.guarantee is Guarantee.EXACTLY_ONCE


def _directory(config: Mapping[str, Any], name: str) -> Path | None:
    text = text_of(config, name, "")
    return Path(text).absolute() if text else None


def _client(config: Mapping[str, Any], keys: ConfigKeys, *prefixes: str) -> dict[str, str]:
    """The settings of one client as text, which is what Spark's options are; objects stay with the operators."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in client_settings(config, keys, *prefixes).items()
        if isinstance(value, (str, int, float, bool))
    }
