"""AlterReplicaLogDirs (key 34), versions 1-2: moves replicas of this broker to other log directories of it.

Answered when the copy has begun; DescribeLogDirs shows how far it is. A path that is no log directory of this broker
is LOG_DIR_NOT_FOUND, a topic whose name leaves no room for a copy's INVALID_TOPIC_EXCEPTION. A replica that is not here
yet will be created in the directory named for it. KIP-113.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ottla.coordinator.group.gathering import Gathering
from ottla.protocol.definition import Response
from ottla.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ottla.storage.topic_partition import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext, WorkInTurns


def handle(parts: "BrokerParts", context: "RequestContext", request: AlterReplicaLogDirsRequest) -> Response | None:
    """Has the replica manager begin the moves, in turns with others if there are many."""
    # A partition that is named twice goes where it was named last.
    moves = {
        TopicPartition(topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }
    if not moves:
        return AlterReplicaLogDirsResponse(results=[])

    def begun(codes: list[int]) -> None:
        response = context.in_turns(_response(moves, codes))
        if response is not None:
            context.answer(response)

    gathering = Gathering(len(moves), context.guarded(begun))

    def work() -> "WorkInTurns":
        for place, (name, path) in enumerate(moves.items()):
            parts.replicas.alter_log_dir(name, path, gathering.place(place))
            yield
        return None

    return context.in_turns(work())


def _response(moves: Iterable[TopicPartition], codes: Sequence[int]) -> "WorkInTurns":
    by_topic: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for (topic, index), code in zip(moves, codes, strict=True):
        yield
        result = AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
        by_topic.setdefault(topic, []).append(result)
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(topic_name=name, partitions=found) for name, found in by_topic.items()]
    )
