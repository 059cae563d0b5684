"""The topics of specs and of statuses: made if need be, compacted, with as many partitions as one another."""

import logging
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.protocol.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError

_log: Final = logging.getLogger(__name__)
_CONFIGS: Final = {"cleanup.policy": "compact", "segment.ms": "3600000", "min.cleanable.dirty.ratio": "0.1"}


async def ensure_topics(admin: AsyncAdmin, options: ControlOptions) -> int:
    """Creates missing topics; their number of partitions. `OttlaError` if the two do not fit together."""
    counts = [await _ensure(admin, name, options) for name in (options.specs_topic, options.status_topic)]
    if counts[0] != counts[1]:
        raise OttlaError(
            f"the topics {options.specs_topic} and {options.status_topic} need as many partitions as one another; they "
            f"have {counts[0]} and {counts[1]}"
        )
    return counts[0]


async def _ensure(admin: AsyncAdmin, name: str, options: ControlOptions) -> int:
    try:
        return len((await admin.describe_topics([name]))[name].partitions)
    except UnknownTopicOrPartitionError:
        brokers = len((await admin.describe_cluster()).nodes)
        replicas = min(options.replication_factor, brokers)
    try:
        await admin.create_topics([NewTopic(name, options.partitions, replicas, configs=_CONFIGS)])
    except TopicAlreadyExistsError:
        return await _ensure(admin, name, options)  # another control process was faster
    _log.info("Created the topic %s", name)
    return options.partitions
