"""Deletion of offsets: OffsetDelete, a deleted group, a deleted topic. Each writes tombstones.

A pending transactional offset is deleted along with the committed one, or a later commit marker would bring back what
was deleted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.offset_rules import OffsetRules
from ottla.coordinator.group.offsets.offsets_state import Offsets, OffsetsState
from ottla.coordinator.group.offsets.record import offset_tombstone
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ErrorCode, GroupIdNotFoundError
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


class DeletedTopic(NamedTuple):
    """A topic that is no more; another one may have its name already."""

    name: str
    id: Uuid


def delete(state: OffsetsState, rules: OffsetRules | None, request: OffsetDeleteRequest) -> CoordinatorResult:
    """OffsetDelete: tombstones for what is there, unless members still use the topic (KIP-496)."""
    if rules is None:
        raise GroupIdNotFoundError(f"Group {request.group_id} not found.")
    rules.validate_delete()
    records: list[CoordinatorRecord] = []
    topics = []
    for topic in request.topics:
        indexes = [partition.partition_index for partition in topic.partitions]
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if rules.is_subscribed(topic.name) else ErrorCode.NONE
        if error is ErrorCode.NONE:
            records += [
                offset_tombstone(request.group_id, topic.name, index)
                for index in dict.fromkeys(indexes)
                if _is_there(state, request.group_id, topic.name, index)
            ]
        answers = [OffsetDeleteResponsePartition(partition_index=index, error_code=error) for index in indexes]
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=answers))
    return CoordinatorResult(records, OffsetDeleteResponse(topics=topics))


def delete_all(state: OffsetsState, group_id: str) -> list[CoordinatorRecord]:
    """The tombstones of all offsets of a group that is deleted."""
    found: set[tuple[str, int]] = set()
    for topic, offsets in state.committed.get(group_id, {}).items():
        found.update((topic, partition) for partition in offsets)
    for topic, pending in state.open_transactions.get(group_id, {}).items():
        found.update((topic, partition) for partition in pending)
    return [offset_tombstone(group_id, topic, partition) for topic, partition in sorted(found)]


def delete_of_topics(state: OffsetsState, topics: Iterable[DeletedTopic]) -> list[CoordinatorRecord]:
    """The tombstones of all offsets, of any group, for topics that were deleted."""
    deleted: dict[str, set[Uuid]] = {}
    for name, topic_id in topics:
        deleted.setdefault(name, {ZERO_UUID}).add(topic_id)
    found = set(_of_topics(state.committed, deleted))
    for of_producer in state.pending.values():
        found.update(_of_topics(of_producer, deleted))
    return [offset_tombstone(*place) for place in sorted(found)]


def _of_topics(offsets: Offsets, deleted: Mapping[str, Collection[Uuid]]) -> Iterator[tuple[str, str, int]]:
    """Thousands of groups may have nothing to do with thousands of topics: the fewer of both are looked up."""
    for group_id, topics in offsets.items():
        names: Iterable[str] = deleted
        if len(topics) < len(deleted):
            names = [name for name in topics if name in deleted]
        for name in names:
            for partition, stored in topics.get(name, {}).items():
                # An offset with another id belongs to the topic that has the name now.
                if stored.topic_id in deleted[name]:
                    yield group_id, name, partition


def _is_there(state: OffsetsState, group_id: str, topic: str, partition: int) -> bool:
    return state.offset(group_id, topic, partition) is not None or state.has_pending(group_id, topic, partition)
