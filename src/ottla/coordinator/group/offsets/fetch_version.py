"""OffsetFetch before v8 asks for one group, and with fields of its own; inside there is but one form (KIP-709)."""

from typing import Final

from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)

GROUPS_SINCE: Final = 8


def groups_asked(request: OffsetFetchRequest, api_version: int) -> list[OffsetFetchRequestGroup]:
    """The groups that a request of any version asks for."""
    if api_version >= GROUPS_SINCE:
        return request.groups
    topics = request.topics
    asked = (
        None
        if topics is None
        else [OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes) for topic in topics]
    )
    return [OffsetFetchRequestGroup(group_id=request.group_id, topics=asked)]


def fetch_answer(groups: list[OffsetFetchResponseGroup], api_version: int) -> OffsetFetchResponse:
    """The response with the answers for all groups; before v8 there is just one."""
    if api_version >= GROUPS_SINCE:
        return OffsetFetchResponse(groups=groups)
    (group,) = groups
    topics = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=partition.partition_index,
                    committed_offset=partition.committed_offset,
                    committed_leader_epoch=partition.committed_leader_epoch,
                    metadata=partition.metadata,
                    error_code=partition.error_code,
                )
                for partition in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)
