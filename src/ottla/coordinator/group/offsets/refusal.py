"""Answers to requests that are refused as a whole; most of these APIs have a code for each partition only."""

from typing import Final

from ottla.coordinator.group.offsets.fetch import NO_OFFSET
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.messages.offset_delete import OffsetDeleteResponse
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_GROUP_ERROR_SINCE: Final = 2
"""From this version of OffsetFetch on there is a code for the group."""


def refused_commit(request: OffsetCommitRequest, code: int) -> OffsetCommitResponse:
    """OffsetCommit with the same code for every partition."""
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
                for partition in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return OffsetCommitResponse(topics=topics)


def refused_transactional(request: TxnOffsetCommitRequest, code: int) -> TxnOffsetCommitResponse:
    """TxnOffsetCommit with the same code for every partition."""
    topics = [
        TxnOffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                TxnOffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
                for partition in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return TxnOffsetCommitResponse(topics=topics)


def refused_fetch(asked: OffsetFetchRequestGroup, code: int, api_version: int) -> OffsetFetchResponseGroup:
    """One group of an OffsetFetch; v1 can say it of partitions only."""
    if api_version >= _GROUP_ERROR_SINCE:
        return OffsetFetchResponseGroup(group_id=asked.group_id, error_code=code)
    topics = [refused_topic(topic.name, topic.partition_indexes, code) for topic in asked.topics or ()]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def refused_topic(name: str, indexes: list[int], code: int) -> OffsetFetchResponseTopics:
    """A topic of an OffsetFetch with the same code for every partition."""
    partitions = [
        OffsetFetchResponsePartitions(partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=code)
        for index in indexes
    ]
    return OffsetFetchResponseTopics(name=name, partitions=partitions)


def refused_delete(code: int) -> OffsetDeleteResponse:
    """OffsetDelete, which has a code for the whole."""
    return OffsetDeleteResponse(error_code=code)
