"""The few config keys that simulated topics have: those that elections depend on, and one that nothing does."""

from collections.abc import Mapping
from typing import Final

from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.errors import InvalidConfigError
from ottla.protocol.messages.create_topics import CreatableTopicConfigs

DEFAULTS: Final[Mapping[str, str]] = {
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "false",
    "retention.ms": "604800000",
}


class SimulatedSchema:
    """Declares the keys of `DEFAULTS` for topics and for the cluster."""

    def validate(self, resource: ConfigResource, configs: Mapping[str, str], existing: Mapping[str, str]) -> None:
        """Refuses keys that topics don't have."""
        if resource.type == ResourceType.TOPIC:
            check_topic_name(resource.name)
            for name in configs:
                if name not in DEFAULTS:
                    raise InvalidConfigError(f"Unknown topic config name: {name}")

    def supports(self, resource_type: int, name: str) -> bool:
        """Whether topics have this setting."""
        return name in DEFAULTS

    def is_list(self, resource: ConfigResource, name: str) -> bool:
        """No key holds a list."""
        return False

    def default(self, resource: ConfigResource, name: str) -> str | None:
        """The declared default."""
        return DEFAULTS.get(name)

    def topic_configs(
        self, topic: Mapping[str, str], node: Mapping[str, str], cluster: Mapping[str, str]
    ) -> list[CreatableTopicConfigs]:
        """All keys with their effective values."""
        effective = {**DEFAULTS, **cluster, **node, **topic}
        return [CreatableTopicConfigs(name=name, value=effective[name]) for name in sorted(DEFAULTS)]
