"""The topic itself: one partition, compacted. It is created if need be, and refused if it would lose schemas.

Who may not use it is told which rights a registry needs: Kafka's own refusal names neither the topic nor the right.
"""

import logging
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigResource, ConfigResourceType
from ottla.client.admin.value.topic import NewTopic
from ottla.protocol.errors import (
    ApiError,
    ClusterAuthorizationFailedError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

_log: Final = logging.getLogger(__name__)
_POLICY: Final = "cleanup.policy"
FORBIDDEN: Final = (TopicAuthorizationFailedError, ClusterAuthorizationFailedError)
"""The topic is not for us. Who may write to no topic at all gets no producer id, which the cluster refuses."""


class TopicUnusableError(OttlaError):
    """The topic exists and can't hold schemas."""


def not_allowed(name: str, error: ApiError) -> TopicUnusableError:
    """The error of a user without rights."""
    return TopicUnusableError(
        f"the topic {name}: {error} A registry's user needs READ, WRITE and DESCRIBE_CONFIGS on it, CREATE if it is "
        f"not there yet, and READ on the group of the instances: `ottla acls add USER write {name}` gives one of them"
    )


async def ensure_topic(admin: AsyncAdmin, name: str, replication_factor: int) -> None:
    """Creates the topic unless it is there; raises `TopicUnusableError` for one that is not as it must be."""
    try:
        found = (await admin.describe_topics([name]))[name]
    except UnknownTopicOrPartitionError:
        await _create(admin, name, replication_factor)
        return
    if len(found.partitions) != 1:
        raise TopicUnusableError(f"the topic {name} has {len(found.partitions)} partitions, and needs exactly 1")
    resource = ConfigResource(ConfigResourceType.TOPIC, name)
    policy = (await admin.describe_configs([resource]))[resource][_POLICY].value or ""
    if policy.replace(" ", "") != "compact":
        raise TopicUnusableError(
            f"the topic {name} has {_POLICY}={policy}, so schemas would be lost; set it to compact: "
            f"ottla configs set topic {name} {_POLICY}=compact"
        )


async def _create(admin: AsyncAdmin, name: str, replication_factor: int) -> None:
    brokers = len((await admin.describe_cluster()).nodes)
    replicas = min(replication_factor, brokers)
    if replicas < replication_factor:
        _log.warning("The topic %s gets %s instead of %d: there are no more brokers", name, _copies(replicas),
                     replication_factor)  # fmt: skip
    try:
        await admin.create_topics([NewTopic(name, 1, replicas, configs={_POLICY: "compact"})])
    except TopicAlreadyExistsError:
        await ensure_topic(admin, name, replication_factor)  # another instance was faster
    else:
        _log.info("Created the topic %s with %s", name, _copies(replicas))


def _copies(replicas: int) -> str:
    return "1 replica" if replicas == 1 else f"{replicas} replicas"
