"""What of a request is refused before its group is asked: topics that are unknown, or not for this client.

A commit is stored with the topic's id and name, whichever of them the client sent, and only for partitions that exist.
What was refused here comes first in an answer, except for OffsetFetch, where it comes last.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from ottla.base.ids import ZERO_UUID
from ottla.coordinator.group.offsets.refused import refused_topic
from ottla.coordinator.ports import MetadataView, TopicView
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponseTopics,
)
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

IsAllowed: TypeAlias = Callable[[str], bool]
"""Whether the client may use the topic of that name."""
_UNKNOWN: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class _Partition(Protocol):
    partition_index: int


P = TypeVar("P", bound=_Partition)


class _Division(NamedTuple):
    """The indexes of partitions that are refused, and why."""

    refused: list[int]
    code: int

    def kept(self, partitions: list[P]) -> list[P]:
        """The partitions that are not refused."""
        if not self.refused:
            return partitions
        return [partition for partition in partitions if partition.partition_index not in self.refused]


def check_commit(
    request: OffsetCommitRequest, metadata: MetadataView, is_allowed: IsAllowed, *, by_id: bool
) -> list[OffsetCommitResponseTopic]:
    """Leaves in an OffsetCommit what its group is to be asked, maybe nothing; the answer for the rest.

    Ids count from v10 on. Names and ids are both there afterwards.
    """
    topics: list[OffsetCommitRequestTopic] = []
    refused: list[OffsetCommitResponseTopic] = []
    for topic in request.topics:
        view = metadata.topic_by_id(topic.topic_id) if by_id else metadata.topic(topic.name)
        if view is not None:
            topic.name, topic.topic_id = view.name, view.id
        if view is None and by_id:
            division = _Division(_indexes(topic.partitions), ErrorCode.UNKNOWN_TOPIC_ID)
        else:
            division = _divide(topic.name, view, topic.partitions, is_allowed)
        if division.refused:
            answers = [
                OffsetCommitResponsePartition(partition_index=index, error_code=division.code)
                for index in division.refused
            ]
            refused.append(OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=answers))
        topic.partitions = division.kept(topic.partitions)
        if topic.partitions:
            topics.append(topic)
    request.topics = topics
    return refused


def check_transactional(
    request: TxnOffsetCommitRequest, metadata: MetadataView, is_allowed: IsAllowed
) -> list[TxnOffsetCommitResponseTopic]:
    """Leaves in a TxnOffsetCommit what its group is to be asked, maybe nothing; the answer for the rest."""
    topics: list[TxnOffsetCommitRequestTopic] = []
    refused: list[TxnOffsetCommitResponseTopic] = []
    for topic in request.topics:
        division = _divide(topic.name, metadata.topic(topic.name), topic.partitions, is_allowed)
        if division.refused:
            answers = [
                TxnOffsetCommitResponsePartition(partition_index=index, error_code=division.code)
                for index in division.refused
            ]
            refused.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=answers))
        topic.partitions = division.kept(topic.partitions)
        if topic.partitions:
            topics.append(topic)
    request.topics = topics
    return refused


def check_delete(
    request: OffsetDeleteRequest, metadata: MetadataView, is_allowed: IsAllowed
) -> list[OffsetDeleteResponseTopic]:
    """Leaves in an OffsetDelete what its group is to be asked; the answer for the rest.

    The group is to be asked even if nothing is left, for there may be no such group.
    """
    topics: list[OffsetDeleteRequestTopic] = []
    refused: list[OffsetDeleteResponseTopic] = []
    for topic in request.topics:
        division = _divide(topic.name, metadata.topic(topic.name), topic.partitions, is_allowed)
        if division.refused:
            answers = [
                OffsetDeleteResponsePartition(partition_index=index, error_code=division.code)
                for index in division.refused
            ]
            refused.append(OffsetDeleteResponseTopic(name=topic.name, partitions=answers))
        topic.partitions = division.kept(topic.partitions)
        if topic.partitions:
            topics.append(topic)
    request.topics = topics
    return refused


def check_fetch(
    asked: OffsetFetchRequestGroup, metadata: MetadataView, is_allowed: IsAllowed, *, by_id: bool
) -> list[OffsetFetchResponseTopics]:
    """Leaves in one group of an OffsetFetch the topics to look up; the answer for the rest.

    A topic by name need not exist: its offsets may be there still. The group is to be asked even if nothing is left.
    """
    topics: list[OffsetFetchRequestTopics] = []
    refused: list[OffsetFetchResponseTopics] = []
    for topic in asked.topics or ():
        view = metadata.topic_by_id(topic.topic_id) if by_id else None
        if view is not None:
            topic.name = view.name
        if by_id and view is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
        elif not is_allowed(topic.name):
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        else:
            topics.append(topic)
            continue
        refusal = refused_topic(topic.name, topic.partition_indexes, code)
        refusal.topic_id = topic.topic_id
        refused.append(refusal)
    if asked.topics is not None:
        asked.topics = topics
    return refused


def show_all(answer: OffsetFetchResponseGroup, metadata: MetadataView, is_allowed: IsAllowed, *, by_id: bool) -> None:
    """Drops from an answer with all offsets of a group what the client may not see, or could not name by id."""
    shown: list[OffsetFetchResponseTopics] = []
    for topic in answer.topics:
        if by_id and topic.topic_id == ZERO_UUID:
            view = metadata.topic(topic.name)
            topic.topic_id = ZERO_UUID if view is None else view.id
        if is_allowed(topic.name) and not (by_id and topic.topic_id == ZERO_UUID):
            shown.append(topic)
    answer.topics = shown


def _divide(name: str, view: TopicView | None, partitions: list[P], is_allowed: IsAllowed) -> _Division:
    if not is_allowed(name):
        return _Division(_indexes(partitions), ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    count = 0 if view is None else view.partition_count
    return _Division([index for index in _indexes(partitions) if not 0 <= index < count], _UNKNOWN)


def _indexes(partitions: list[P]) -> list[int]:
    return [partition.partition_index for partition in partitions]
