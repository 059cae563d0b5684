"""The allowed configs of topics, brokers, groups and client metrics: the controller's `ConfigSchema` port.

A refusal has Kafka's code: INVALID_CONFIG (40) for topics and groups, INVALID_REQUEST (42) for brokers and for names
that no client metrics subscription has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import is_not
from typing import Final, NamedTuple

from ottla.base.config import REQUIRED, ConfigError, ConfigKey, ConfigKeys, Synonym, scaled
from ottla.base.config_type import ConfigType
from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.broker.config.dynamic_rule import Level, check_change
from ottla.broker.config.keys.client_metric import CLIENT_METRIC_KEYS, INTERVAL_MS_MAX, INTERVAL_MS_MIN, MATCH_NAMES
from ottla.broker.config.keys.group_resource import GROUP_RESOURCE_KEYS
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.limit import group_conflicts
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.config.topic_rule import check_topic_configs
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.config_source import ConfigSource
from ottla.protocol.errors import InvalidConfigError, InvalidRequestError
from ottla.protocol.messages.create_topics import CreatableTopicConfigs
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

_KEYS: Final[Mapping[int, ConfigKeys]] = {
    ResourceType.TOPIC: LOG_CONFIG_KEYS,
    ResourceType.BROKER: SERVER_KEYS,
    ResourceType.GROUP: GROUP_RESOURCE_KEYS,
    ResourceType.CLIENT_METRICS: CLIENT_METRIC_KEYS,
}
_SPLITTABLE: Final = (ResourceType.TOPIC, ResourceType.BROKER)


class BrokerConfigSchema:
    """The declared keys of every kind of resource, with this node's own settings as defaults."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        """The node's settings as they are now: `DynamicConfig` replaces them when they change."""
        self._inherited: _Inherited | None = None

    def validate(self, resource: ConfigResource, configs: Mapping[str, str], existing: Mapping[str, str]) -> None:
        """Raises an `ApiError` if `configs` may not replace `existing`."""
        if resource.type == ResourceType.TOPIC:
            self._validate_topic(resource.name, configs, existing)
        elif resource.type == ResourceType.BROKER:
            _validate_broker(resource.name, configs, existing)
        elif resource.type == ResourceType.GROUP:
            self._validate_group(resource.name, configs)
        elif resource.type == ResourceType.CLIENT_METRICS:
            _validate_client_metrics(resource.name, configs)
        else:
            raise InvalidRequestError(f"Unknown resource type {resource.type}")

    def supports(self, resource_type: int, name: str) -> bool:
        """Whether a key is declared for that type of resource. Brokers take any key, declared or not."""
        return resource_type == ResourceType.BROKER or name in _KEYS.get(resource_type, {})

    def is_list(self, resource: ConfigResource, name: str) -> bool:
        """Whether a key holds a list that values can be appended to: topics' and brokers' alone, as in Kafka."""
        key = _KEYS[resource.type].get(name) if resource.type in _SPLITTABLE else None
        return key is not None and key.type is ConfigType.LIST

    def default(self, resource: ConfigResource, name: str) -> str | None:
        """The value of a key without a dynamic setting.

        A list that is appended to begins with the declared default: another broker's file is not known here.
        """
        key = _KEYS[resource.type].get(name) if resource.type in _KEYS else None
        if key is None:
            return None
        if resource.type == ResourceType.BROKER and key.type is not ConfigType.LIST and name in self.config.given:
            return self.config.given[name]
        return rendered_default(key)

    def topic_configs(
        self, topic: Mapping[str, str], node: Mapping[str, str], cluster: Mapping[str, str]
    ) -> list[CreatableTopicConfigs]:
        """All configs of a topic with their sources, by name; an internal one only if the topic has it itself."""
        layers = (node, cluster, self.config.given)
        # Hundreds of topics in a request inherit the same; the mappings are never changed, only replaced.
        if self._inherited is None or any(map(is_not, layers, self._inherited.layers)):
            self._inherited = _Inherited.of(*layers)
        if not topic:
            return list(self._inherited.entries)
        own = [
            CreatableTopicConfigs(name=name, value=topic[name], config_source=ConfigSource.DYNAMIC_TOPIC_CONFIG)
            for name in topic
        ]
        inherited = (entry for entry in self._inherited.entries if entry.name not in topic)
        return sorted((*own, *inherited), key=lambda entry: entry.name)

    def _validate_topic(self, name: str, configs: Mapping[str, str], existing: Mapping[str, str]) -> None:
        if not name:
            raise InvalidRequestError("Default topic resources are not allowed.")
        check_topic_name(name)
        for config in configs:
            if config not in LOG_CONFIG_KEYS:
                raise InvalidConfigError(f"Unknown topic config name: {config}")
        try:
            check_topic_configs(configs, existing, self.config)
        except ConfigError as error:
            raise InvalidConfigError(str(error)) from error

    def _validate_group(self, name: str, configs: Mapping[str, str]) -> None:
        if not name:
            raise InvalidRequestError("Default group resources are not allowed.")
        for config in configs:
            if config not in GROUP_RESOURCE_KEYS:
                raise InvalidConfigError(f"Unknown group config name: {config}")
        for reason in group_conflicts(self.config.integer, self._group_value(configs)):
            raise InvalidConfigError(reason)

    def _group_value(self, configs: Mapping[str, str]) -> "_GroupValue":
        try:
            parsed = GROUP_RESOURCE_KEYS.parse(configs)
        except ConfigError as error:
            raise InvalidConfigError(str(error)) from error
        return _GroupValue(parsed.values, frozenset(configs), self.config)


class _Inherited(NamedTuple):
    """The configs of topics that say nothing themselves."""

    layers: tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]
    entries: Sequence[CreatableTopicConfigs]

    @classmethod
    def of(cls, node: Mapping[str, str], cluster: Mapping[str, str], given: Mapping[str, str]) -> "_Inherited":
        sources = (
            (node, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (cluster, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (given, ConfigSource.STATIC_BROKER_CONFIG),
        )
        entries = []
        for key in sorted(LOG_CONFIG_KEYS.values(), key=lambda key: key.name):
            if not key.internal:
                value, source = _inherited(key, sources)
                entries.append(CreatableTopicConfigs(name=key.name, value=value, config_source=source))
        return cls((node, cluster, given), entries)


class _GroupValue:
    """A group's value of a key: its own, else the broker's."""

    def __init__(self, values: Mapping[str, object], given: frozenset[str], config: ServerConfig) -> None:
        self._values = values
        self._given = given
        self._config = config

    def __call__(self, name: str) -> int:
        if name not in self._given:
            return self._config.integer(f"group.{name}")
        value = self._values[name]
        assert isinstance(value, int)
        return value


def rendered_default(key: ConfigKey) -> str | None:
    """A key's default as text; None if it has none."""
    return None if key.default is REQUIRED else key.render(key.default)


def _inherited(
    key: ConfigKey, layers: Sequence[tuple[Mapping[str, str], ConfigSource]]
) -> tuple[str | None, ConfigSource]:
    for configs, source in layers:
        for synonym in key.synonyms:
            if synonym.name in configs:
                return converted(configs[synonym.name], synonym), source
    return rendered_default(key), ConfigSource.DEFAULT_CONFIG


def converted(text: str, synonym: Synonym) -> str:
    """A synonym's value in the unit of the key it stands for.

    >>> converted("2", Synonym("log.retention.hours", 3_600_000))
    '7200000'
    """
    return text if synonym.scale == 1 else str(scaled(int(text), synonym))


def _validate_broker(name: str, configs: Mapping[str, str], existing: Mapping[str, str]) -> None:
    """Checks changed configs alone: stored ones must not prevent a change."""
    if name:
        if not re.fullmatch(r"[+-]?[0-9]{1,10}", name):
            raise InvalidRequestError("Unable to parse broker name as a base 10 number.")
        if int(name) < 0:
            raise InvalidRequestError("Invalid negative broker ID.")
    changed = {config: text for config, text in configs.items() if existing.get(config) != text}
    try:
        check_change(changed, Level.BROKER if name else Level.CLUSTER)
    except ConfigError as error:
        raise InvalidRequestError(str(error)) from error


def _validate_client_metrics(name: str, configs: Mapping[str, str]) -> None:
    if not name:
        raise InvalidRequestError("Subscription name can't be empty")
    for config in configs:
        if config not in CLIENT_METRIC_KEYS:
            raise InvalidRequestError(f"Unknown client metrics configuration: {config}")
    try:
        values = CLIENT_METRIC_KEYS.parse(configs).values
    except ConfigError as error:
        raise InvalidConfigError(str(error)) from error
    interval_ms, match = values["interval.ms"], values["match"]
    assert isinstance(interval_ms, int)
    assert isinstance(match, tuple)
    if not INTERVAL_MS_MIN <= interval_ms <= INTERVAL_MS_MAX:
        raise InvalidRequestError(
            f"Invalid value {interval_ms} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
        )
    for pattern in _bad_patterns(match):
        raise InvalidConfigError(f"Illegal client matching pattern: {pattern}")


def _bad_patterns(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        parts = pattern.split("=")
        if len(parts) != 2 or not parts[1] or parts[0].strip() not in MATCH_NAMES:
            yield pattern
            continue
        try:
            LinearRegex(parts[1].strip())
        except RegexError:
            yield pattern
