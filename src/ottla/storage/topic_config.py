"""The settings of all topics: the broker's defaults and what each topic says itself, worked out once per topic."""

from collections.abc import Mapping

from ottla.storage.log_config import LogConfig


class TopicConfigs:
    """`LogConfig`s by topic; partitions of a topic share one, and so do topics that say nothing.

    >>> configs = TopicConfigs(LogConfig(retention_ms=5))
    >>> configs.set("orders", {"segment.ms": "7"}).retention_ms, configs.get("other").retention_ms
    (5, 5)
    """

    __slots__ = ("_configs", "_overrides", "default")

    def __init__(self, default: LogConfig) -> None:
        self.default = default
        self._overrides: dict[str, Mapping[str, object]] = {}
        self._configs: dict[str, LogConfig] = {}

    def get(self, topic: str) -> LogConfig:
        """The topic's settings."""
        return self._configs.get(topic, self.default)

    def set(self, topic: str, overrides: Mapping[str, object]) -> LogConfig:
        """Takes what the topic says now; `ConfigError` if it is wrong, and nothing changes then."""
        config = LogConfig.parse(overrides, self.default) if overrides else self.default
        if overrides:
            self._overrides[topic] = dict(overrides)
            self._configs[topic] = config
        else:
            self._overrides.pop(topic, None)
            self._configs.pop(topic, None)
        return config

    def set_default(self, default: LogConfig) -> None:
        """Takes new defaults; what topics say themselves stays."""
        configs = {topic: LogConfig.parse(overrides, default) for topic, overrides in self._overrides.items()}
        self.default, self._configs = default, configs

    def replace_all(self, topics: Mapping[str, Mapping[str, object]]) -> None:
        """Takes what all topics say, forgetting what they said before."""
        self._overrides = {}
        self._configs = {}
        for topic, overrides in topics.items():
            self.set(topic, overrides)
