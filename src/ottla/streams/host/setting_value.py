"""Values of a configuration with Kafka Streams' names, checked: every host reads them alike."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from ottla.base.config import ConfigError, ConfigKeys

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
        "partition.assignment.strategy",
        "group.protocol",
        "interceptor.classes",
    }
)
"""Settings of clients that hosts decide."""


class Guarantee(Enum):
    """`processing.guarantee`."""

    AT_LEAST_ONCE = "at_least_once"
    EXACTLY_ONCE = "exactly_once_v2"


def text_of(config: Mapping[str, Any], name: str, default: str) -> str:
    """A setting as text."""
    found = config.get(name)
    return default if found is None else str(found)


def number_of(config: Mapping[str, Any], name: str, default: int, at_least: int = 0) -> int:
    """A whole number.

    >>> number_of({"commit.interval.ms": "50"}, "commit.interval.ms", 100)
    50
    """
    text = text_of(config, name, str(default))
    try:
        number = int(text)
    except ValueError:
        raise ConfigError(name, text, "has to be a whole number") from None
    if number < at_least:
        raise ConfigError(name, text, f"has to be {at_least} at least")
    return number


def application_id_of(config: Mapping[str, Any]) -> str:
    """`application.id`, where `bootstrap.servers` is there, too."""
    application_id = text_of(config, "application.id", "")
    if not application_id or "/" in application_id:
        raise ConfigError("application.id", application_id, "there has to be one; it names the group and topics")
    if not config.get("bootstrap.servers"):
        raise ConfigError("bootstrap.servers", "", "required: host:port of some brokers, separated by commas")
    return application_id


def guarantee_of(config: Mapping[str, Any]) -> Guarantee:
    """`processing.guarantee`."""
    text = text_of(config, "processing.guarantee", Guarantee.AT_LEAST_ONCE.value)
    try:
        return Guarantee(text)
    except ValueError:
        raise ConfigError("processing.guarantee", text, "has to be at_least_once or exactly_once_v2") from None


def replication_factor_of(config: Mapping[str, Any]) -> int | None:
    """None leaves it to the brokers' `default.replication.factor`, as -1 does with Kafka Streams."""
    number = number_of(config, "replication.factor", -1, at_least=-1)
    return None if number == -1 else number


def offset_reset_of(config: Mapping[str, Any]) -> str:
    """`auto.offset.reset`, for all sources that have none of their own."""
    text = text_of(config, "auto.offset.reset", text_of(config, "consumer.auto.offset.reset", "earliest"))
    if text not in ("earliest", "latest"):
        raise ConfigError("auto.offset.reset", text, "has to be earliest or latest")
    return text


def client_settings(config: Mapping[str, Any], keys: ConfigKeys, *prefixes: str) -> dict[str, Any]:
    """The settings of one client: those without a prefix, then those with its own; later prefixes win."""
    found = {name: value for name, value in config.items() if name in keys}
    for prefix in prefixes:
        found |= {name.removeprefix(prefix): value for name, value in config.items() if name.startswith(prefix)}
    return {name: value for name, value in found.items() if name not in _DECIDED}
