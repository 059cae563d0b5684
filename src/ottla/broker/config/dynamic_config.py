"""Settings that change while a node runs: brokers', the cluster's and topics' configs from the image, applied live.

`current` is what counts now: the file, the cluster's dynamic configs over it, this node's own over those. Stored
configs that cannot be used are named in the log and passed over, as an old release may have let them in: they never
stop a node.

Invariants: `current` always satisfies every rule of a `ServerConfig`. Topics' configs reach `LogManager` before any
listener behind this one hears of the change, so that a new topic's logs are made with them.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.broker.config.dynamic_rule import Level, applicable, check_change, check_step, clamped, overlaid
from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS
from ottla.broker.config.name import base_name
from ottla.broker.config.rule import check_startable
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.config.server_config import ServerConfig
from ottla.metadata.image.config import CLUSTER_DEFAULT, NO_CONFIGS, ConfigResource, Configs, ResourceType
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.errors import InvalidRequestError
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS
from ottla.storage.log_manager import LogManager

_log: Final = logging.getLogger(__name__)

ConfigChanged = Callable[[ServerConfig], None]


class _Subscription(NamedTuple):
    names: frozenset[str]
    callback: ConfigChanged


class DynamicConfig:
    """The settings as they are now, and who wants to hear of changes."""

    def __init__(
        self, config: ServerConfig, logs: LogManager | None = None, schema: BrokerConfigSchema | None = None
    ) -> None:
        """`logs` is None on a controller without a broker; `schema` is kept up to date."""
        self.static: Final = config
        """The settings at the node's start."""
        self.current = config
        """The present settings."""
        self.broker_configs: Mapping[str, str] = {}
        """This node's own dynamic configs, as far as they count."""
        self.cluster_configs: Mapping[str, str] = {}
        """The cluster's dynamic configs, as far as they count."""
        self._ignored: dict[Level, Mapping[str, str]] = {Level.BROKER: {}, Level.CLUSTER: {}}
        self._resource: Final = ConfigResource(ResourceType.BROKER, str(config.node_id))
        self._logs: Final = logs
        self._schema: Final = schema
        self._subscriptions: Final[list[_Subscription]] = []
        self._checks: Final[list[ConfigChanged]] = []
        self._written: Final[list[ConfigChanged]] = []
        self._topics: Final[dict[str, Configs]] = {}

    def subscribe(self, names: Collection[str], callback: ConfigChanged) -> None:
        """Calls `callback` with the new settings, on the loop, whenever one of `names` got another value."""
        self._subscriptions.append(_Subscription(frozenset(names), callback))

    def check_with(self, check: ConfigChanged) -> None:
        """Asks `check`, too, before this node's settings change; it raises a `ConfigError` against that."""
        self._checks.append(check)

    def when_written(self, callback: ConfigChanged) -> None:
        """Calls `callback` whenever dynamic configs of this node were written, be it as they were before."""
        self._written.append(callback)

    def topic_overrides(self, image: MetadataImage) -> Mapping[str, Mapping[str, str]]:
        """The own settings of every topic, for `LogManager.load`; they then count as applied."""
        for resource, configs in image.configs.items():
            if resource.type == ResourceType.TOPIC:
                self._topics[resource.name] = configs
        return {topic: _usable(topic, configs) for topic, configs in self._topics.items()}

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """A metadata listener: takes what changed in the configs of this broker, the cluster and topics."""
        changes = delta.configs.changes
        if self._resource in changes or CLUSTER_DEFAULT in changes:
            self._take_broker(image)
        if self._logs is None:
            return
        for resource, configs in changes.items():
            if resource.type == ResourceType.TOPIC:
                is_known = resource.name in delta.base.topics.ids and resource.name in image.topics.ids
                self._take_topic(self._logs, resource.name, configs or NO_CONFIGS, is_known=is_known)

    def validate_broker_change(self, configs: Mapping[str, str], *, per_broker: bool) -> None:
        """Raises `InvalidRequestError` if this node's, or the cluster's, dynamic configs may not become `configs`.

        What is stored already and does not count is not held against the change.
        """
        level = Level.BROKER if per_broker else Level.CLUSTER
        wanted = {name: text for name, text in configs.items() if self._ignored[level].get(name) != text}
        layers = (self.cluster_configs, wanted) if per_broker else (wanted, self.broker_configs)
        try:
            check_change(wanted, level)
            config = ServerConfig(overlaid(self.static.given, *layers))
            check_step(self.current, config)
            check_startable(config)
            for check in self._checks:
                check(config)
        except ConfigError as error:
            raise InvalidRequestError(str(error)) from error

    def _take_broker(self, image: MetadataImage) -> None:
        layers = []
        for resource, level in ((CLUSTER_DEFAULT, Level.CLUSTER), (self._resource, Level.BROKER)):
            stored = image.configs_of(resource)
            configs, complaints = applicable(stored, level)
            for complaint in complaints:
                _log.error("%s", complaint)
            self._ignored[level] = {name: text for name, text in stored.items() if name not in configs}
            layers.append(configs)
        self.cluster_configs, self.broker_configs = layers
        try:
            config = ServerConfig(clamped(overlaid(self.static.given, *layers)))
            check_startable(config)
        except ConfigError as error:
            names = ", ".join(sorted({*self.cluster_configs, *self.broker_configs}))
            _log.error("Dynamic configs could not be applied (%s): %s", names, error)
            return
        self._switch_to(config)
        for written in self._written:
            written(config)

    def _switch_to(self, config: ServerConfig) -> None:
        before, self.current = self.current, config
        changed = {name for name, value in config.values.items() if before.values[name] != value}
        changed |= _changed_of_listeners(before.given, config.given)
        changed |= {name for name in DYNAMIC_QUOTA_KEYS if before.given.get(name) != config.given.get(name)}
        if not changed:
            return
        _log.info("Dynamic configs changed: %s", ", ".join(sorted(changed)))
        if self._schema is not None:
            self._schema.config = config
        if self._logs is not None and config.default_log_config != before.default_log_config:
            self._logs.update_default_config(config.default_log_config)
        for names, callback in self._subscriptions:
            if names & changed:
                callback(config)

    def _take_topic(self, logs: LogManager, topic: str, configs: Configs, *, is_known: bool) -> None:
        if self._topics.get(topic, NO_CONFIGS) == configs:
            return
        if configs:
            self._topics[topic] = configs
        else:
            self._topics.pop(topic, None)
        usable = _usable(topic, configs)
        try:
            if is_known:
                logs.update_topic_config(topic, usable)
            else:
                # A topic that comes or goes has no logs to be told: looking through all of them would take
                # quadratic time where thousands of topics are made.
                logs.configs.set(topic, usable)
        except ConfigError as error:
            _log.error("Configs of topic %s could not be applied: %s", topic, error)


def _changed_of_listeners(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """The keys of which a listener has another value of its own now."""
    named = {name: base for name in {*before, *after} if (base := base_name(name)) is not None}
    return {base for name, base in named.items() if before.get(name) != after.get(name)}


def _usable(topic: str, configs: Mapping[str, str]) -> dict[str, str]:
    """The part of a topic's stored configs that this release understands."""
    usable = {}
    for name, text in configs.items():
        if name not in LOG_CONFIG_KEYS:
            _log.error("Topic %s has the config %s, which is unknown and ignored", topic, name)
            continue
        try:
            LOG_CONFIG_KEYS[name].parse(text)
        except ConfigError as error:
            _log.error("Topic %s has a config that is ignored: %s", topic, error)
            continue
        usable[name] = text
    return usable
