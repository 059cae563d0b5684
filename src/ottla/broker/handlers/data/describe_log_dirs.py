"""DescribeLogDirs (key 35), versions 1-5: this broker's log directories and the replicas in them.

Null topics asks for all replicas; partitions that are not here are left out. A directory that is offline comes with
KAFKA_STORAGE_ERROR and nothing in it. A copy that is being made in another directory is flagged as future, with how
many records it lags behind. v4 adds the space of the volume, v5 whether a directory is cordoned. KIP-113, KIP-827,
KIP-1066.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

from ottla.protocol.definition import Response
from ottla.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.storage.topic_partition import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext, WorkInTurns
    from ottla.replication.directory.log_dir import LogDirDescription


def handle(parts: "BrokerParts", context: "RequestContext", request: DescribeLogDirsRequest) -> Response | None:
    """Answers from this broker's logs, in turns with others if there are many."""
    return context.in_turns(_describe_all(parts, request))


def _describe_all(parts: "BrokerParts", request: DescribeLogDirsRequest) -> "WorkInTurns":
    wanted = None if request.topics is None else _partitions(request)
    response = DescribeLogDirsResponse()
    for found in parts.replicas.describe_log_dirs(wanted):
        response.results.append((yield from _result(found)))
    return response


def _partitions(request: DescribeLogDirsRequest) -> set[TopicPartition]:
    return {
        TopicPartition(topic.topic, index) for topic in request.topics or () for index in topic.partitions if index >= 0
    }


def _result(found: "LogDirDescription") -> Generator[None, None, DescribeLogDirsResult]:
    by_topic: dict[str, list[DescribeLogDirsPartition]] = {}
    for replica in found.replicas:
        described = DescribeLogDirsPartition(
            partition_index=replica.partition.partition,
            partition_size=replica.size_bytes,
            offset_lag=replica.offset_lag,
            is_future_key=replica.is_future,
        )
        by_topic.setdefault(replica.partition.topic, []).append(described)
        yield
    return DescribeLogDirsResult(
        error_code=found.error_code,
        log_dir=found.path,
        topics=[DescribeLogDirsTopic(name=name, partitions=partitions) for name, partitions in by_topic.items()],
        total_bytes=found.total_bytes,
        usable_bytes=found.usable_bytes,
        is_cordoned=found.is_cordoned,
    )
