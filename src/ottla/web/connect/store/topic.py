"""The topics themselves: compacted, created if need be, refused if records would be lost or out of order."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigResource, ConfigResourceType
from ottla.client.admin.value.topic import NewTopic
from ottla.protocol.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError
from ottla.web.connect.config import ConnectConfig

_log: Final = logging.getLogger(__name__)
_POLICY: Final = "cleanup.policy"
_PIPELINES: Final = {"segment.ms": "3600000", "min.cleanable.dirty.ratio": "0.1"}
_STORAGE: Final = ("config.storage", "offset.storage", "status.storage")


@frozen
class StoredTopic:
    """One topic as it should be."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str] = field(default_factory=dict)
    is_single: bool = False
    """Whether its records need one order, so that there may be one partition only."""


def topics_of(config: ConnectConfig, given: Mapping[str, str]) -> list[StoredTopic]:
    """Config, offsets, statuses, and the two of the pipelines, in this order."""
    settings = config.settings

    def stored(prefix: str, partitions: int) -> StoredTopic:
        name, replicas = settings.string(f"{prefix}.topic"), settings.integer(f"{prefix}.replication.factor")
        return StoredTopic(name, partitions, replicas, _configs(prefix, given), prefix == "config.storage")

    replicas = settings.integer("config.storage.replication.factor")
    counts = (1, settings.integer("offset.storage.partitions"), settings.integer("status.storage.partitions"))
    return [
        *(stored(prefix, count) for prefix, count in zip(_STORAGE, counts, strict=True)),
        StoredTopic(settings.string("pipelines.specs.topic"), 8, replicas, _PIPELINES),
        StoredTopic(settings.string("pipelines.status.topic"), 8, replicas, _PIPELINES),
    ]


async def ensure_topics(admin: AsyncAdmin, topics: Sequence[StoredTopic]) -> dict[str, int]:
    """Creates missing topics; the number of partitions of each. Raises `OttlaError` for one that can't be used."""
    return {topic.name: await _ensure(admin, topic) for topic in topics}


async def _ensure(admin: AsyncAdmin, topic: StoredTopic) -> int:
    try:
        found = (await admin.describe_topics([topic.name]))[topic.name]
    except UnknownTopicOrPartitionError:
        return await _create(admin, topic)
    if topic.is_single and len(found.partitions) != 1:
        raise OttlaError(
            f"Topic '{topic.name}' supplied via the 'config.storage.topic' property is required to have a single "
            "partition in order to guarantee consistency of connector configurations, but found "
            f"{len(found.partitions)} partitions."
        )
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.name)
    policy = (await admin.describe_configs([resource]))[resource][_POLICY].value or ""
    if policy.replace(" ", "") != "compact":
        raise OttlaError(
            f"the topic {topic.name} has {_POLICY}={policy}, so connectors would be forgotten; set it to compact: "
            f"ottla configs set topic {topic.name} {_POLICY}=compact"
        )
    return len(found.partitions)


async def _create(admin: AsyncAdmin, topic: StoredTopic) -> int:
    brokers = len((await admin.describe_cluster()).nodes)
    replicas = min(topic.replication_factor, brokers)
    if replicas < topic.replication_factor:
        _log.warning("The topic %s gets %s instead of %d: there are no more brokers", topic.name, _copies(replicas),
                     topic.replication_factor)  # fmt: skip
    configs = {_POLICY: "compact", **topic.configs}
    try:
        await admin.create_topics([NewTopic(topic.name, topic.partitions, replicas, configs=configs)])
    except TopicAlreadyExistsError:
        return await _ensure(admin, topic)  # another worker was faster
    _log.info("Created the topic %s with %s", topic.name, _copies(replicas))
    return await _ensure(admin, topic)


def _configs(prefix: str, given: Mapping[str, str]) -> dict[str, str]:
    """Settings of a topic behind the prefix of its kind, such as `offset.storage.min.insync.replicas`."""
    ours = {"topic", "partitions", "replication.factor", "file.filename", _POLICY}
    found = {name.removeprefix(f"{prefix}."): value for name, value in given.items() if name.startswith(f"{prefix}.")}
    return {name: value for name, value in found.items() if name not in ours}


def _copies(replicas: int) -> str:
    return "1 replica" if replicas == 1 else f"{replicas} replicas"
