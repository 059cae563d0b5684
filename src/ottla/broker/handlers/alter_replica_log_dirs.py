"""AlterReplicaLogDirs (key 34), versions 1-2: moves replicas of this broker to other log directories of it.

Answered when the copy has begun; DescribeLogDirs shows how far it is. A path that is no log directory of this broker
is LOG_DIR_NOT_FOUND. A replica that is not here yet will be created in the directory named for it. KIP-113.
"""

from typing import TYPE_CHECKING

from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ottla.storage.topic_partition import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.parts import BrokerParts
    from ottla.broker.request_context import RequestContext


def handle(
    parts: "BrokerParts", context: "RequestContext", request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    """Has the replica manager begin the moves. A partition that is named twice goes where it was named last."""
    moves = {
        TopicPartition(topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }
    by_topic: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for partition, code in parts.replicas.alter_log_dirs(moves).items():
        result = AlterReplicaLogDirPartitionResult(partition_index=partition.partition, error_code=code)
        by_topic.setdefault(partition.topic, []).append(result)
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(topic_name=name, partitions=found) for name, found in by_topic.items()]
    )
