"""What a configuration with Kafka Streams' names means for the host.

Settings of clients (`bootstrap.servers`, security, `linger.ms` …) go to the source and the sink; serdes, handlers and
what else operators look at stay in the configuration that tasks see. Settings of Kafka Streams that decide nothing
here are accepted.
"""

import tempfile
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

from ottla.base.config import ConfigError, ConfigKeys
from ottla.base.frozen import frozen
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS

_DECIDED: Final = frozenset(
    {
        "group.id",
        "auto.offset.reset",
        "isolation.level",
        "enable.auto.commit",
        "transactional.id",
        "key.serializer",
        "value.serializer",
        "key.deserializer",
        "value.deserializer",
        "partitioner.class",
        "interceptor.classes",
    }
)
"""Settings of clients that the host decides."""


class Guarantee(Enum):
    """`processing.guarantee`."""

    AT_LEAST_ONCE = "at_least_once"
    EXACTLY_ONCE = "exactly_once_v2"


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
        application_id = _text(config, "application.id", "")
        if not application_id or "/" in application_id:
            raise ConfigError("application.id", application_id, "there has to be one; it names the group and topics")
        if not config.get("bootstrap.servers"):
            raise ConfigError("bootstrap.servers", "", "required: host:port of some brokers, separated by commas")
        root = Path(_text(config, "state.dir", str(Path(tempfile.gettempdir(), "kafka-streams"))))
        state_dir = root.absolute() / application_id
        return cls(
            application_id=application_id,
            guarantee=_guarantee(config),
            state_dir=state_dir,
            checkpoint=Path(_text(config, "checkpoint.location", str(state_dir / "checkpoint"))),
            replication_factor=_replication_factor(config),
            offset_reset=_offset_reset(config),
            trigger_interval_ms=_number(config, "trigger.interval.ms", 100),
            offsets_per_trigger_max=_number(config, "max.offsets.per.trigger", 200_000),
            purge_interval_ms=_number(config, "repartition.purge.interval.ms", 30_000),
            snapshot_dir=_directory(config, "state.snapshot.dir"),
            snapshot_interval_ms=_number(config, "state.snapshot.interval.ms", 600_000),
            reader=_client(config, CONSUMER_KEYS, ("consumer.", "main.consumer.")),
            writer=_client(config, PRODUCER_KEYS, ("producer.",)),
            admin=_client(config, ADMIN_KEYS, ("admin.",)),
        )

    @property
    def is_exactly_once(self) -> bool:
        """Whether outputs, changelogs and offsets are one transaction."""
        return self.guarantee is Guarantee.EXACTLY_ONCE


def _text(config: Mapping[str, Any], name: str, default: str) -> str:
    found = config.get(name)
    return default if found is None else str(found)


def _directory(config: Mapping[str, Any], name: str) -> Path | None:
    text = _text(config, name, "")
    return Path(text).absolute() if text else None


def _number(config: Mapping[str, Any], name: str, default: int) -> int:
    text = _text(config, name, str(default))
    try:
        number = int(text)
    except ValueError:
        raise ConfigError(name, text, "has to be a whole number") from None
    if number < 0:
        raise ConfigError(name, text, "cannot be negative")
    return number


def _guarantee(config: Mapping[str, Any]) -> Guarantee:
    text = _text(config, "processing.guarantee", Guarantee.AT_LEAST_ONCE.value)
    try:
        return Guarantee(text)
    except ValueError:
        raise ConfigError("processing.guarantee", text, "has to be at_least_once or exactly_once_v2") from None


def _replication_factor(config: Mapping[str, Any]) -> int | None:
    """None leaves it to the brokers' `default.replication.factor`, as -1 does with Kafka Streams."""
    text = _text(config, "replication.factor", "-1")
    try:
        number = int(text)
    except ValueError:
        raise ConfigError("replication.factor", text, "has to be a whole number") from None
    return None if number == -1 else number


def _offset_reset(config: Mapping[str, Any]) -> str:
    text = _text(config, "auto.offset.reset", _text(config, "consumer.auto.offset.reset", "earliest"))
    if text not in ("earliest", "latest"):
        raise ConfigError("auto.offset.reset", text, "has to be earliest or latest")
    return text


def _client(config: Mapping[str, Any], keys: ConfigKeys, prefixes: tuple[str, ...]) -> dict[str, str]:
    """The settings of one client: those without a prefix, then those with its own."""
    found = {name: value for name, value in config.items() if name in keys}
    for prefix in prefixes:
        found |= {name.removeprefix(prefix): value for name, value in config.items() if name.startswith(prefix)}
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in found.items()
        if name not in _DECIDED and isinstance(value, (str, int, float, bool))
    }
