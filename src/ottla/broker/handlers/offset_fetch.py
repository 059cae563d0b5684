"""OffsetFetch (key 9), versions 1–10: the positions that groups committed; of all their topics if none are named.

A partition without an offset is -1 and no error, whether it exists or not. From v8 on several groups are asked for at
once, from v10 on topics go by id: one that nobody knows is UNKNOWN_TOPIC_ID, and where all topics are asked for those
without an id are left out.

KIP-88, KIP-447, KIP-709, KIP-848.
"""

from typing import Final

from ottla.base.ids import ZERO_UUID
from ottla.broker.metadata_cache import MetadataCache
from ottla.broker.parts import BrokerParts
from ottla.broker.request_context import RequestContext
from ottla.coordinator.group.offsets.refused import refused_topic
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponseTopics,
)

_TOPIC_IDS_SINCE: Final = 10


def handle(parts: BrokerParts, context: RequestContext, request: OffsetFetchRequest) -> None:
    """Answers once what it rests on is committed."""
    coordinators = parts.coordinators
    fetch = coordinators.groups.offset_fetch
    if context.version < _TOPIC_IDS_SINCE:
        coordinators.ask_groups(fetch, context, request)
        return
    unknown = [_name_topics(parts.metadata, group) for group in request.groups]

    def answer(response: OffsetFetchResponse) -> None:
        for group, refused in zip(response.groups, unknown, strict=True):
            if not group.error_code:
                _add_ids(parts.metadata, group)
                group.topics += refused
        context.answer(response)

    coordinators.ask_groups(fetch, context, request, answer)


def _name_topics(metadata: MetadataCache, group: OffsetFetchRequestGroup) -> list[OffsetFetchResponseTopics]:
    """Fills in the names of a group's topics; those without one are taken out, and answered for."""
    if group.topics is None:
        return []
    refused: list[OffsetFetchResponseTopics] = []
    known = []
    for topic in group.topics:
        name = metadata.topic_name(topic.topic_id)
        if name is None:
            answer = refused_topic("", topic.partition_indexes, ErrorCode.UNKNOWN_TOPIC_ID)
            answer.topic_id = topic.topic_id
            refused.append(answer)
        else:
            topic.name = name
            known.append(topic)
    group.topics = known
    return refused


def _add_ids(metadata: MetadataCache, group: OffsetFetchResponseGroup) -> None:
    for topic in group.topics:
        if topic.topic_id == ZERO_UUID:
            topic.topic_id = metadata.topic_id(topic.name)
    group.topics = [topic for topic in group.topics if topic.topic_id != ZERO_UUID]
