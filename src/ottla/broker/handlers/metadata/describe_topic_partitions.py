"""DescribeTopicPartitions (key 75), version 0: topics with their partitions, page by page, with eligible leaders.

Topics come sorted by name; an answer holds at most `response_partition_limit` partitions (at least one, and no more
than `max.request.partition.size.limit`) and ends with a cursor that the next request begins at. An empty list asks for
all topics. A cursor on a topic that is not asked for, or at a negative partition, is refused for all topics.

Deviation: an empty name is INVALID_TOPIC_EXCEPTION, for which Apache Kafka fails the whole request. KIP-966.
"""

from bisect import bisect_left
from collections.abc import Generator
from typing import TYPE_CHECKING

from ottla.broker.coordinator_host.internal_topic import is_internal
from ottla.broker.request.metadata.authorized_operation import topic_operations
from ottla.broker.request.metadata.auto_topic import error_of_missing
from ottla.broker.request.metadata.listener_view import ListenerView
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.security.rights import Rights, may_topic, sees_topic
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode, InvalidRequestError
from ottla.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext, WorkInTurns


def handle(parts: "BrokerParts", context: "RequestContext", request: DescribeTopicPartitionsRequest) -> Response | None:
    """Answers one page from the image, in turns with others if there are many topics to look at."""
    return context.in_turns(_describe(parts, context, request))


def _describe(
    parts: "BrokerParts", context: "RequestContext", request: DescribeTopicPartitionsRequest
) -> "WorkInTurns":
    cache = parts.metadata
    names = _names(cache, request)
    cursor = request.cursor
    if cursor is not None and cursor.partition_index < 0:
        raise InvalidRequestError(f"DescribeTopicPartitionsRequest cursor partition must be valid: {cursor}")
    limit = parts.dynamic.current.integer("max.request.partition.size.limit")
    rights = context.rights
    if not rights.is_unlimited:
        names, hidden = yield from _permitted(rights, names, named=bool(request.topics))
    else:
        hidden = []
    page = _Page(cache.view(context.listener), rights, max(min(limit, request.response_partition_limit), 1))
    for name in names:
        if page.is_full:
            return page.answer(Cursor(topic_name=name, partition_index=0), hidden)
        yield
        topic = cache.topic(name)
        if topic is None:
            # Of all topics, one that is not there is one that went meanwhile: it was not asked for.
            if request.topics:
                page.add_missing(name)
            continue
        start = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        following = page.add(topic, start)
        if following is not None:
            return page.answer(Cursor(topic_name=name, partition_index=following), hidden)
    return page.answer(None, hidden)


def _names(cache: MetadataCache, request: DescribeTopicPartitionsRequest) -> list[str]:
    """The names to describe from the cursor on, in order."""
    first = "" if request.cursor is None else request.cursor.topic_name
    if not request.topics:
        names = cache.topic_names()
        return names[bisect_left(names, first) :]
    names = sorted({topic.name for topic in request.topics if topic.name >= first})
    if request.cursor is not None and first not in names:
        raise InvalidRequestError(f"DescribeTopicPartitionsRequest topic list should contain the cursor topic: {first}")
    return names


def _permitted(rights: Rights, names: list[str], *, named: bool) -> Generator[None, None, tuple[list[str], list[str]]]:
    """The topics that the client may see, and those it named and may not: whether they exist is not told."""
    is_permitted = may_topic if named else sees_topic
    seen: list[str] = []
    hidden: list[str] = []
    for name in names:
        (seen if is_permitted(rights, AclOperation.DESCRIBE, name) else hidden).append(name)
        yield
    return seen, hidden if named else []


class _Page:
    """The topics of one answer."""

    def __init__(self, view: ListenerView, rights: Rights, partitions_max: int) -> None:
        self._view = view
        self._rights = rights
        self._left = partitions_max
        self._topics: list[DescribeTopicPartitionsResponseTopic] = []

    @property
    def is_full(self) -> bool:
        """Whether no further partition has a place."""
        return self._left == 0

    def add(self, topic: TopicImage, start: int) -> int | None:
        """Adds partitions of a topic from `start` on; the first one that has no place any more, if there is one.

        3 places left, partitions 0 to 4, start 1 → 1, 2 and 3 are added and 4 is next.
        """
        end = min(len(topic.partitions), start + self._left)
        partitions = [self._partition(index, topic.partitions[index]) for index in range(start, end)]
        self._topics.append(
            DescribeTopicPartitionsResponseTopic(
                name=topic.name,
                topic_id=topic.id,
                is_internal=is_internal(topic.name),
                partitions=partitions,
                topic_authorized_operations=topic_operations(self._rights, topic.name),
            )
        )
        self._left -= len(partitions)
        return end if end < len(topic.partitions) else None

    def add_missing(self, name: str) -> None:
        """Adds a topic that is not there."""
        self._topics.append(
            DescribeTopicPartitionsResponseTopic(
                error_code=error_of_missing(name),
                name=name,
                is_internal=is_internal(name),
                topic_authorized_operations=topic_operations(self._rights, name),
            )
        )

    def answer(self, following: Cursor | None, hidden: list[str]) -> DescribeTopicPartitionsResponse:
        """The page, with the topics that the client may not see at its end, and where the next one begins."""
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        refused = [DescribeTopicPartitionsResponseTopic(error_code=code, name=name) for name in hidden]
        return DescribeTopicPartitionsResponse(topics=[*self._topics, *refused], next_cursor=following)

    def _partition(self, index: int, partition: PartitionRegistration) -> DescribeTopicPartitionsResponsePartition:
        return DescribeTopicPartitionsResponsePartition(
            partition_index=index,
            leader_id=partition.leader if self._view.reaches(partition.leader) else NO_LEADER,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            eligible_leader_replicas=list(partition.elr),
            last_known_elr=list(partition.last_known_elr),
            offline_replicas=self._view.offline_replicas(partition),
        )
