"""Dynamic configs of topics, brokers, groups and client metrics, as the log has them: text by name.

Keys that are no longer declared are kept here, so that an image is what the log says; who reads configs passes over
them.
"""

from enum import IntEnum
from typing import NamedTuple

from immutables import Map

from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.config import ConfigRecord


class ResourceType(IntEnum):
    """The kinds of resource, by their numbers on the wire."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """Something that has configs. A broker with an empty name stands for the cluster's default."""

    type: int
    name: str


Configs = Map[str, str]
NO_CONFIGS: Configs = Map()
CLUSTER_DEFAULT = ConfigResource(ResourceType.BROKER, "")


def topic_resource(name: str) -> ConfigResource:
    """The resource that a topic's configs belong to."""
    return ConfigResource(ResourceType.TOPIC, name)


class ConfigsDelta(MapDelta[ConfigResource, Configs]):
    """Changes to configs; a resource that has none left is no longer in the map."""

    __slots__ = ()

    def replay(self, record: ConfigRecord) -> None:
        resource = ConfigResource(record.resource_type, record.resource_name)
        configs = self.get(resource) or NO_CONFIGS
        if record.value is not None:
            self.set(resource, configs.set(record.name, record.value))
        elif record.name in configs:
            self._keep(resource, configs.delete(record.name))

    def topic_removed(self, name: str) -> None:
        """A removed topic takes its configs along; there are no records for them."""
        if self.get(topic_resource(name)) is not None:
            self.remove(topic_resource(name))

    def _keep(self, resource: ConfigResource, configs: Configs) -> None:
        if configs:
            self.set(resource, configs)
        else:
            self.remove(resource)
