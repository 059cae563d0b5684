"""OffsetFetch (key 9), versions 1–10: the positions that groups committed; of all their topics if none are named.

A partition without an offset is -1 and no error, whether it exists or not. From v8 on several groups are asked for at
once, from v10 on topics go by id: an unknown one is UNKNOWN_TOPIC_ID, and where all topics are asked for those
without an id are left out.

KIP-88, KIP-447, KIP-709, KIP-848.
"""

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Final

from ottla.base.ids import ZERO_UUID
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.request_piece import PIECE_ELEMENTS, Lists, ask_in_pieces
from ottla.broker.security.rights import Rights, may_group, may_topic, sees_topic, split_groups
from ottla.coordinator.group.offsets.refusal import refused_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ErrorCode, GroupAuthorizationFailedError
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_GROUPS_SINCE: Final = 8
_TOPIC_IDS_SINCE: Final = 10


def handle(parts: BrokerParts, context: RequestContext, request: OffsetFetchRequest) -> None:
    """Answers once what it rests on is committed."""
    if context.version < _GROUPS_SINCE:
        _fetch_one(parts, context, request)
    else:
        _fetch_several(parts, context, request)


def _fetch_one(parts: BrokerParts, context: RequestContext, request: OffsetFetchRequest) -> None:
    """Up to v7 a request is about one group."""
    coordinators, rights = parts.coordinators, context.rights
    fetch = coordinators.groups.offset_fetch
    if not may_group(rights, AclOperation.DESCRIBE, request.group_id):
        raise GroupAuthorizationFailedError
    if request.topics is None:

        def answer_seen(response: OffsetFetchResponse) -> None:
            response.topics = [topic for topic in response.topics if _sees(rights, topic.name)]
            context.answer(response)

        coordinators.ask_groups(fetch, context, request, answer_seen)
        return
    hidden = [topic for topic in request.topics if not may_topic(rights, AclOperation.DESCRIBE, topic.name)]
    names = {topic.name for topic in hidden}
    if hidden:
        request.topics = [topic for topic in request.topics if topic.name not in names]

    def answer(response: OffsetFetchResponse) -> None:
        if not response.error_code:
            response.topics += [_forbidden_topic(topic.name, topic.partition_indexes) for topic in hidden]
        context.answer(response)

    ask_in_pieces(
        context,
        request,
        Lists("topics", "topics"),
        lambda piece, done: coordinators.ask_groups(fetch, context, piece, done),
        answer,
    )


def _forbidden_topic(name: str, indexes: list[int]) -> OffsetFetchResponseTopic:
    """The form of versions up to v7."""
    code = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return OffsetFetchResponseTopic(
        name=name,
        partitions=[
            OffsetFetchResponsePartition(partition_index=index, committed_offset=-1, metadata="", error_code=code)
            for index in indexes
        ],
    )


def _fetch_several(parts: BrokerParts, context: RequestContext, request: OffsetFetchRequest) -> None:
    coordinators, rights, metadata = parts.coordinators, context.rights, parts.metadata
    fetch = coordinators.groups.offset_fetch
    by_id = context.version >= _TOPIC_IDS_SINCE

    def ask(piece: OffsetFetchRequest, done: Callable[[OffsetFetchResponse], None]) -> None:
        refused = [_name_topics(metadata, group) if by_id else [] for group in piece.groups]
        if not rights.is_unlimited:
            for group, absent in zip(piece.groups, refused, strict=True):
                absent += _hide_topics(rights, group)
        named = [group.topics is not None for group in piece.groups]

        def complete(response: OffsetFetchResponse) -> None:
            for group, absent, is_named in zip(response.groups, refused, named, strict=True):
                if group.error_code:
                    continue
                if not is_named:
                    group.topics = [topic for topic in group.topics if _sees(rights, topic.name)]
                if by_id:
                    _add_ids(metadata, group)
                group.topics += absent
            done(response)

        coordinators.ask_groups(fetch, context, piece, complete)

    allowed, forbidden = request.groups, []
    if not rights.is_unlimited:
        known, hidden = split_groups(rights, AclOperation.DESCRIBE, [group.group_id for group in allowed])
        forbidden, seen = [_forbidden_group(group_id) for group_id in hidden], set(known)
        allowed = [group for group in allowed if group.group_id in seen]

    def fold(response: OffsetFetchResponse) -> None:
        response.groups = _folded(response.groups, counts) + forbidden
        context.answer(response)

    spread = [_spread(group) for group in allowed]
    counts = [len(groups) for groups in spread]
    request.groups = list(chain.from_iterable(spread))
    if forbidden and not request.groups:
        fold(OffsetFetchResponse())
        return
    topics = sum(len(group.topics) for group in request.groups if group.topics is not None)
    each = topics // max(len(request.groups), 1) + 1
    ask_in_pieces(context, request, Lists("groups", "groups", max(PIECE_ELEMENTS // each, 1)), ask, fold)


def _forbidden_group(group_id: str) -> OffsetFetchResponseGroup:
    return OffsetFetchResponseGroup(group_id=group_id, error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)


def _sees(rights: Rights, topic: str) -> bool:
    return sees_topic(rights, AclOperation.DESCRIBE, topic)


def _hide_topics(rights: Rights, group: OffsetFetchRequestGroup) -> list[OffsetFetchResponseTopics]:
    """Takes out the topics that the client named and may not see; the answers for them."""
    hidden: list[OffsetFetchResponseTopics] = []
    seen = []
    for topic in group.topics or ():
        if may_topic(rights, AclOperation.DESCRIBE, topic.name):
            seen.append(topic)
        else:
            answer = refused_topic(topic.name, topic.partition_indexes, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            answer.topic_id = topic.topic_id
            hidden.append(answer)
    if hidden:
        group.topics = seen
    return hidden


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
