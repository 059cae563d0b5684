"""Topics described: page by page (KIP-966) by name, or by id, or from Metadata where a server has no pages."""

from collections.abc import Iterable, Iterator
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.admin.channel import ANY_NODE
from ottla.client.admin.operation.base import AdminOperations, authorized_operations
from ottla.client.admin.outcome import answered, outcome, settle
from ottla.client.admin.value.topic import PartitionDescription, TopicDescription
from ottla.client.other_client import several
from ottla.protocol.errors import UnsupportedVersionError
from ottla.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from ottla.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

PAGE_PARTITIONS: Final = 2000


class TopicDescriptionOperations(AdminOperations):
    """Descriptions of topics."""

    async def describe_topics(
        self,
        names: Iterable[str],
        *,
        page_partitions: int = PAGE_PARTITIONS,
        include_authorized_operations: bool = False,
        errors: dict[str, OttlaError] | None = None,
    ) -> dict[str, TopicDescription]:
        """Topics by name. `page_partitions` limits how many partitions a server puts into one answer."""
        asked = list(dict.fromkeys(several("describe_topics()", names, "names")))
        if not asked:
            return {}
        try:
            pages = await self._pages(asked, page_partitions)
        except UnsupportedVersionError:
            request = MetadataRequest(
                topics=[MetadataRequestTopic(name=name) for name in asked],
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=include_authorized_operations,
            )
            response = await self._channel.ask(ANY_NODE, request, MetadataResponse)
            found = {topic.name or "": _from_metadata(topic) for topic in response.topics}
            return settle(answered(asked, found), errors)
        return settle(answered(asked, pages.outcomes()), errors)

    async def _pages(self, names: list[str], page_partitions: int) -> "TopicPages":
        pages = TopicPages()
        cursor: Cursor | None = None
        while True:
            request = DescribeTopicPartitionsRequest(
                # Topics come sorted by name, so those before the cursor are done; to name them again is an error.
                topics=[
                    TopicRequest(name=name) for name in sorted(names) if cursor is None or name >= cursor.topic_name
                ],
                response_partition_limit=page_partitions,
                cursor=cursor,
            )
            response = await self._channel.ask(ANY_NODE, request, DescribeTopicPartitionsResponse)
            pages.add(response)
            cursor = response.next_cursor
            if cursor is None:
                return pages

    async def describe_topics_by_id(
        self,
        ids: Iterable[Uuid],
        *,
        include_authorized_operations: bool = False,
        errors: dict[Uuid, OttlaError] | None = None,
    ) -> dict[Uuid, TopicDescription]:
        """Topics by id."""
        asked = list(dict.fromkeys(ids))
        if not asked:
            return {}
        request = MetadataRequest(
            topics=[MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in asked],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=include_authorized_operations,
        )
        response = await self._channel.ask(ANY_NODE, request, MetadataResponse)
        return settle(answered(asked, {topic.topic_id: _from_metadata(topic) for topic in response.topics}), errors)


class TopicPages:
    """Puts the pages of an answer together: a topic may begin on one and end on the next."""

    def __init__(self) -> None:
        self._topics: Final[dict[str, DescribeTopicPartitionsResponseTopic]] = {}

    def add(self, response: DescribeTopicPartitionsResponse) -> None:
        """The next page."""
        for topic in response.topics:
            begun = self._topics.setdefault(topic.name or "", topic)
            if begun is not topic:
                begun.partitions.extend(topic.partitions)

    def outcomes(self) -> dict[str, TopicDescription | OttlaError]:
        """The topics, whole."""
        return {name: _described(topic) for name, topic in self._topics.items()}


def _described(topic: DescribeTopicPartitionsResponseTopic) -> TopicDescription | OttlaError:
    partitions = [
        PartitionDescription(
            partition=found.partition_index,
            leader=None if found.leader_id < 0 else found.leader_id,
            leader_epoch=None if found.leader_epoch < 0 else found.leader_epoch,
            replicas=tuple(found.replica_nodes),
            isr=tuple(found.isr_nodes),
            elr=None if found.eligible_leader_replicas is None else tuple(found.eligible_leader_replicas),
            last_known_elr=None if found.last_known_elr is None else tuple(found.last_known_elr),
            offline_replicas=tuple(found.offline_replicas),
        )
        for found in topic.partitions
    ]
    return outcome(
        TopicDescription(
            topic.name or "",
            topic.topic_id,
            topic.is_internal,
            tuple(sorted(partitions, key=lambda partition: partition.partition)),
            authorized_operations(topic.topic_authorized_operations),
        ),
        topic.error_code,
    )


def _from_metadata(topic: MetadataResponseTopic) -> TopicDescription | OttlaError:
    return outcome(
        TopicDescription(
            topic.name or "",
            topic.topic_id,
            topic.is_internal,
            tuple(sorted(_partitions(topic), key=lambda partition: partition.partition)),
            authorized_operations(topic.topic_authorized_operations),
        ),
        topic.error_code,
    )


def _partitions(topic: MetadataResponseTopic) -> Iterator[PartitionDescription]:
    for found in topic.partitions:
        yield PartitionDescription(
            partition=found.partition_index,
            leader=None if found.leader_id < 0 else found.leader_id,
            leader_epoch=None if found.leader_epoch < 0 else found.leader_epoch,
            replicas=tuple(found.replica_nodes),
            isr=tuple(found.isr_nodes),
            elr=None,
            last_known_elr=None,
            offline_replicas=tuple(found.offline_replicas),
        )
