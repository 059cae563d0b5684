"""OffsetFetch (key 9), versions 1–10: the positions that groups committed; of all their topics if none are named.

A partition without an offset is -1 and no error, whether it exists or not. From v8 on several groups are asked for at
once, from v10 on topics go by id: one that nobody knows is UNKNOWN_TOPIC_ID, and where all topics are asked for those
without an id are left out.

KIP-88, KIP-447, KIP-709, KIP-848.
"""

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Final

from ottla.base.ids import ZERO_UUID
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.metadata_cache import MetadataCache
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import PIECE_ELEMENTS, Lists, ask_in_pieces
from ottla.coordinator.group.offsets.refused import refused_topic
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponseTopics,
)

_GROUPS_SINCE: Final = 8
_TOPIC_IDS_SINCE: Final = 10


def handle(parts: BrokerParts, context: RequestContext, request: OffsetFetchRequest) -> None:
    """Answers once what it rests on is committed."""
    coordinators = parts.coordinators
    fetch = coordinators.groups.offset_fetch

    def ask_by_name(piece: OffsetFetchRequest, done: Callable[[OffsetFetchResponse], None]) -> None:
        coordinators.ask_groups(fetch, context, piece, done)

    if context.version < _GROUPS_SINCE:
        if request.topics is None:
            coordinators.ask_groups(fetch, context, request)
        else:
            ask_in_pieces(context, request, Lists("topics", "topics"), ask_by_name)
        return
    by_id = context.version >= _TOPIC_IDS_SINCE

    def ask(piece: OffsetFetchRequest, done: Callable[[OffsetFetchResponse], None]) -> None:
        unknown = [_name_topics(parts.metadata, group) for group in piece.groups]

        def add_ids(response: OffsetFetchResponse) -> None:
            for group, refused in zip(response.groups, unknown, strict=True):
                if not group.error_code:
                    _add_ids(parts.metadata, group)
                    group.topics += refused
            done(response)

        coordinators.ask_groups(fetch, context, piece, add_ids)

    def fold(response: OffsetFetchResponse) -> None:
        response.groups = _folded(response.groups, counts)
        context.answer(response)

    spread = [_spread(group) for group in request.groups]
    counts = [len(groups) for groups in spread]
    request.groups = list(chain.from_iterable(spread))
    topics = sum(len(group.topics) for group in request.groups if group.topics is not None)
    each = topics // max(len(request.groups), 1) + 1
    lists = Lists("groups", "groups", max(PIECE_ELEMENTS // each, 1))
    ask_in_pieces(context, request, lists, ask if by_id else ask_by_name, fold)


def _spread(group: OffsetFetchRequestGroup) -> Sequence[OffsetFetchRequestGroup]:
    """A group of very many topics, as if it were named for some of them at a time."""
    topics = group.topics
    if topics is None or len(topics) <= PIECE_ELEMENTS:
        return (group,)
    return [
        OffsetFetchRequestGroup(
            group_id=group.group_id,
            member_id=group.member_id,
            member_epoch=group.member_epoch,
            topics=topics[start : start + PIECE_ELEMENTS],
        )
        for start in range(0, len(topics), PIECE_ELEMENTS)
    ]


def _folded(answers: list[OffsetFetchResponseGroup], counts: Sequence[int]) -> list[OffsetFetchResponseGroup]:
    """One answer for each group: an error of any part is the group's."""
    if len(answers) == len(counts):
        return answers
    folded = []
    rest = iter(answers)
    for count in counts:
        parts = list(islice(rest, count))
        whole = next((part for part in parts if part.error_code), parts[0])
        if not whole.error_code:
            whole.topics = [topic for part in parts for topic in part.topics]
        folded.append(whole)
    return folded


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
