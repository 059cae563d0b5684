"""DescribeConfigs' entries: value, source, synonyms, type and prose of every key of a resource, by name.

A value's synonyms are all places that could provide it, the one that does first: this broker's dynamic configs, the
cluster's, the file, the declared default. A key of unknown type may hold a secret, so its value is not shown.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from ottla.base import log
from ottla.base.config import ConfigKey, scaled
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.keys.client_metric import CLIENT_METRIC_KEYS
from ottla.broker.config.keys.group_resource import GROUP_RESOURCE_KEYS
from ottla.broker.config.keys.passive import NO_EFFECT, NOT_ACTED_ON
from ottla.broker.config.keys.server import DYNAMIC_KEYS, SERVER_KEYS
from ottla.broker.config.name import synonyms
from ottla.broker.config.schema import rendered_default
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.config_source import ConfigSource
from ottla.protocol.errors import InvalidRequestError, UnknownTopicOrPartitionError
from ottla.protocol.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsSynonym
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

_UNKNOWN_TYPE: Final = 0
_DEFAULTS: Final = {name: text for name, key in SERVER_KEYS.items() if (text := rendered_default(key)) is not None}

Entry = DescribeConfigsResourceResult


@frozen
class DescribeOptions:
    """The options of a DescribeConfigs request."""

    names: Collection[str] | None = None
    """Keys that are asked for; None or none at all asks for every one."""
    include_synonyms: bool = False
    include_documentation: bool = False


def describe_configs(
    dynamic: DynamicConfig, image: MetadataImage, resource: ConfigResource, options: DescribeOptions
) -> list[Entry]:
    """The entries of a resource, by name; an `ApiError` if it is not there or not this node's to describe."""
    description = _Description(dynamic, image, options)
    if resource.type == ResourceType.TOPIC:
        entries = description.topic(resource.name)
    elif resource.type == ResourceType.BROKER and not resource.name:
        entries = description.cluster_default()
    elif resource.type == ResourceType.BROKER:
        _check_broker(dynamic, resource.name, "or empty string, but received")
        entries = description.broker()
    elif resource.type == ResourceType.BROKER_LOGGER:
        entries = description.loggers(resource.name)
    elif resource.type == ResourceType.CLIENT_METRICS:
        entries = description.client_metrics(resource.name)
    elif resource.type == ResourceType.GROUP:
        entries = description.group(resource.name)
    else:
        raise InvalidRequestError(f"Unexpected resource type {resource.type} for resource {resource.name}")
    return sorted(entries, key=lambda entry: entry.name)


class _Description:
    """One resource's entries in the making."""

    def __init__(self, dynamic: DynamicConfig, image: MetadataImage, options: DescribeOptions) -> None:
        self._dynamic: Final = dynamic
        self._image: Final = image
        self._options: Final = options

    def topic(self, name: str) -> Iterator[Entry]:
        check_topic_name(name)
        if name not in self._image.topics.ids:
            raise UnknownTopicOrPartitionError
        own = self._image.configs_of(ConfigResource(ResourceType.TOPIC, name))
        for config in self._wanted(_described(LOG_CONFIG_KEYS).union(own)):
            key = LOG_CONFIG_KEYS.get(config)
            value = _own_value(key, own[config]) if config in own else self._inherited(key)
            broker = self._broker_synonyms(key.synonyms[0].name) if key is not None and key.synonyms else []
            yield self._entry(
                config, key, value, _with_own(config, value, own, broker, ConfigSource.DYNAMIC_TOPIC_CONFIG)
            )

    def group(self, name: str) -> Iterator[Entry]:
        if not name:
            raise InvalidRequestError("Group name must not be empty")
        own = self._image.configs_of(ConfigResource(ResourceType.GROUP, name))
        for config in self._wanted(_described(GROUP_RESOURCE_KEYS).union(own)):
            key = GROUP_RESOURCE_KEYS.get(config)
            value = _own_value(key, own[config]) if config in own else self._inherited(key)
            if key is not None and key.synonyms:
                behind = self._broker_synonyms(key.synonyms[0].name)
            else:
                default = rendered_default(key) if key is not None else None
                behind = [_synonym(config, default, ConfigSource.DEFAULT_CONFIG)] if key is not None else []
            yield self._entry(
                config, key, value, _with_own(config, value, own, behind, ConfigSource.DYNAMIC_GROUP_CONFIG)
            )

    def client_metrics(self, name: str) -> Iterator[Entry]:
        if not name:
            raise InvalidRequestError("Client metrics subscription name must not be empty")
        own = self._image.configs_of(ConfigResource(ResourceType.CLIENT_METRICS, name))
        for config in self._wanted(_described(CLIENT_METRIC_KEYS).union(own)):
            key = CLIENT_METRIC_KEYS.get(config)
            value = _own_value(key, own[config]) if config in own else self._inherited(key)
            yield self._entry(
                config, key, value, _with_own(config, value, own, [], ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG)
            )

    def broker(self) -> Iterator[Entry]:
        current = self._dynamic.current
        for config in self._wanted(_described(SERVER_KEYS).union(current.given)):
            key = server_key(config)
            declared = SERVER_KEYS.get(config)
            value = current.given[config] if declared is None else declared.render(current[config])
            entry = self._entry(config, key, value, self._broker_synonyms(config))
            entry.read_only = config not in DYNAMIC_KEYS
            yield entry

    def cluster_default(self) -> Iterator[Entry]:
        for config in self._wanted(self._dynamic.cluster_configs):
            value = self._dynamic.cluster_configs[config]
            own = [
                synonym
                for synonym in self._broker_synonyms(config)
                if synonym.source == ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
            ]
            entry = self._entry(config, server_key(config), value, own)
            entry.read_only = config not in DYNAMIC_KEYS
            yield entry

    def loggers(self, name: str) -> Iterator[Entry]:
        if not name:
            raise InvalidRequestError("Broker id must not be empty")
        _check_broker(self._dynamic, name, "but received")
        levels = log.levels()
        for logger in self._wanted(levels):
            yield Entry(name=logger, value=levels[logger], config_source=ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG)

    def _wanted(self, configs: Iterable[str]) -> list[str]:
        names = self._options.names
        return [config for config in configs if not names or config in names]

    def _inherited(self, key: ConfigKey | None) -> str | None:
        """The node's own value of a key that the resource does not set."""
        assert key is not None
        for synonym in key.synonyms:
            value = self._dynamic.current[synonym.name]
            if value is not None:
                return key.render(scaled(value, synonym))
        return key.render(key.default)

    def _broker_synonyms(self, name: str) -> list[DescribeConfigsSynonym]:
        """All places that could provide a node's setting; listener overrides don't count for the key without."""
        layers: tuple[tuple[Mapping[str, str], ConfigSource], ...] = (
            (self._dynamic.broker_configs, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self._dynamic.cluster_configs, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self._dynamic.static.given, ConfigSource.STATIC_BROKER_CONFIG),
            (_DEFAULTS, ConfigSource.DEFAULT_CONFIG),
        )
        names = synonyms(name)
        is_secret = _is_secret(server_key(name))
        found = [
            _synonym(other, None if is_secret else configs[other], source)
            for configs, source in layers
            for other in names
            if other in configs
        ]
        first = next((place for place, synonym in enumerate(found) if synonym.name == name), len(found))
        return found[first:]

    def _entry(
        self, name: str, key: ConfigKey | None, value: str | None, behind: list[DescribeConfigsSynonym]
    ) -> Entry:
        is_secret = _is_secret(key)
        return Entry(
            name=name,
            value=None if is_secret else value,
            config_source=behind[0].source if behind else ConfigSource.DEFAULT_CONFIG,
            is_sensitive=is_secret,
            synonyms=behind if self._options.include_synonyms else [],
            config_type=_UNKNOWN_TYPE if key is None else key.type,
            documentation=_documentation(key) if self._options.include_documentation else None,
        )


def _documentation(key: ConfigKey | None) -> str | None:
    if key is None:
        return None
    return f"{key.doc} {NO_EFFECT}" if key.name in NOT_ACTED_ON else key.doc


def server_key(name: str) -> ConfigKey | None:
    """The key that a setting of a node is about, also with a listener's prefix or if it is dynamic alone."""
    for other in (name, *synonyms(name)):
        key = SERVER_KEYS.get(other) or DYNAMIC_KEYS.get(other)
        if key is not None:
            return key
    return None


def _described(keys: Mapping[str, ConfigKey]) -> set[str]:
    return {key.name for key in keys.values() if not key.internal}


def _own_value(key: ConfigKey | None, text: str) -> str | None:
    """A stored text as it was understood; items of a list count once."""
    if key is None:
        return None
    value = key.type.parse(text)
    return key.render(tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value)


def _is_secret(key: ConfigKey | None) -> bool:
    return key is None or key.type is ConfigType.PASSWORD


def _synonym(name: str, value: str | None, source: ConfigSource) -> DescribeConfigsSynonym:
    return DescribeConfigsSynonym(name=name, value=value, source=source)


def _with_own(
    name: str,
    value: str | None,
    own: Mapping[str, str],
    behind: list[DescribeConfigsSynonym],
    source: ConfigSource,
) -> list[DescribeConfigsSynonym]:
    return [_synonym(name, value, source), *behind] if name in own else behind


def _check_broker(dynamic: DynamicConfig, name: str, received: str) -> None:
    try:
        broker_id = int(name)
    except ValueError as error:
        raise InvalidRequestError(f"Broker id must be an integer, but it is: {name}") from error
    if broker_id != dynamic.static.node_id:
        expected = f"expected {dynamic.static.node_id} {received} {name}"
        raise InvalidRequestError(f"Unexpected broker id, {expected}")
