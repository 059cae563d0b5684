"""OffsetFetch: what is committed for the partitions asked for, or for all of a group's.

The caller chooses the state: the committed one, or with `require_stable` the newest, whose answer then waits until all
that it rests on is committed (KIP-447). An unknown group has no offsets, which is no error.
"""

from typing import Final

from ottla.base.ids import ZERO_UUID
from ottla.coordinator.group.offsets.offset_rules import OffsetRules
from ottla.coordinator.group.offsets.offsets_state import NO_LEADER_EPOCH, OffsetAndMetadata, OffsetsState
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

NO_OFFSET: Final = -1


def fetch(
    state: OffsetsState, rules: OffsetRules | None, asked: OffsetFetchRequestGroup, *, require_stable: bool
) -> OffsetFetchResponseGroup:
    """The offsets of one group; raises what refuses the group. `rules` is None if there is no such group."""
    if rules is not None:
        rules.validate_fetch(asked.member_id, asked.member_epoch)
    group_id = asked.group_id
    if asked.topics is None:
        topics = [] if rules is None else _all_topics(state, group_id, require_stable=require_stable)
        return OffsetFetchResponseGroup(group_id=group_id, topics=topics)
    known = None if rules is None else state
    topics = [_topic(known, group_id, topic, require_stable=require_stable) for topic in asked.topics]
    return OffsetFetchResponseGroup(group_id=group_id, topics=topics)


def _topic(
    state: OffsetsState | None, group_id: str, asked: OffsetFetchRequestTopics, *, require_stable: bool
) -> OffsetFetchResponseTopics:
    partitions = []
    for index in asked.partition_indexes:
        if state is None:
            partitions.append(_none(index))
        elif require_stable and state.has_pending(group_id, asked.name, index):
            partitions.append(_unstable(index))
        else:
            stored = state.offset(group_id, asked.name, index)
            # A topic made anew under an old name has a new id, and the old one's offsets mean nothing for it.
            is_other = stored is not None and ZERO_UUID not in (stored.topic_id, asked.topic_id)
            if stored is None or (is_other and stored.topic_id != asked.topic_id):
                partitions.append(_none(index))
            else:
                partitions.append(_found(index, stored))
    return OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=partitions)


def _all_topics(state: OffsetsState, group_id: str, *, require_stable: bool) -> list[OffsetFetchResponseTopics]:
    found = []
    for topic, offsets in state.committed.get(group_id, {}).items():
        partitions = [
            _unstable(index)
            if require_stable and state.has_pending(group_id, topic, index)
            else _found(index, offsets[index])
            for index in sorted(offsets)
        ]
        found.append(OffsetFetchResponseTopics(name=topic, partitions=partitions))
    return found


def _found(index: int, stored: OffsetAndMetadata) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=stored.offset,
        committed_leader_epoch=stored.leader_epoch,
        metadata=stored.metadata,
    )


def _none(index: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_OFFSET, committed_leader_epoch=NO_LEADER_EPOCH, metadata=""
    )


def _unstable(index: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=NO_OFFSET,
        committed_leader_epoch=NO_LEADER_EPOCH,
        metadata="",
        error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT,
    )
