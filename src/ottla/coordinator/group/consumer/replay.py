"""Replays the records of consumer groups.

A value makes the group if there is none, or if only offsets were there under its name. A tombstone for a missing part
has no effect: compaction may have left it alone. Tombstones of a member and of a group come in an order that later ones
rely on; the states in between are not visible to requests.
"""

from collections.abc import Callable
from typing import Any, Final

from ottla.coordinator.group.consumer.group import ConsumerGroup, ResolvedRegex
from ottla.coordinator.group.consumer.member import (
    LEAVE_EPOCH,
    NOTHING_OWNED,
    ClassicSide,
    ConsumerMember,
    MemberState,
    Owned,
)
from ottla.coordinator.group.group_state import GroupsState
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorRecord
from ottla.protocol.group_log.consumer import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicPartitions,
)

_STATES: Final = {int(state): state for state in MemberState}


def replay_consumer(state: GroupsState, record: CoordinatorRecord) -> GroupsState:
    """The state after a record of a consumer group."""
    key: Any = record.key
    group_id: str = key.group_id
    found = state.groups.get(group_id)
    if not isinstance(found, ConsumerGroup):
        if record.value is None:
            return state
        found = ConsumerGroup()
    if record.value is None and isinstance(key, ConsumerGroupMetadataKey):
        return state._replace(groups=state.groups.delete(group_id))
    return state._replace(groups=state.groups.set(group_id, replay_part(found, record)))


def replay_part(group: ConsumerGroup, record: CoordinatorRecord) -> ConsumerGroup:
    """The group after a record that does not delete it."""
    return _REPLAYS[type(record.key)](group, record.key, record.value)


def _epoch(group: ConsumerGroup, key: ConsumerGroupMetadataKey, value: ConsumerGroupMetadataValue) -> ConsumerGroup:
    return group._replace(epoch=value.epoch, metadata_hash=value.metadata_hash)


def _partition_metadata(group: ConsumerGroup, key: ConsumerGroupPartitionMetadataKey, value: object) -> ConsumerGroup:
    return group._replace(has_partition_metadata=value is not None)


def _subscription(
    group: ConsumerGroup, key: ConsumerGroupMemberMetadataKey, value: ConsumerGroupMemberMetadataValue | None
) -> ConsumerGroup:
    if value is None:
        return group.without_member(key.member_id)
    before = group.members.get(key.member_id) or ConsumerMember(key.member_id)
    return group.with_member(
        before._replace(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topic_names=frozenset(value.subscribed_topic_names),
            topic_regex=value.subscribed_topic_regex,
            server_assignor=value.server_assignor,
            classic=_classic(value.classic_member_metadata),
        )
    )


def _target_epoch(
    group: ConsumerGroup,
    key: ConsumerGroupTargetAssignmentMetadataKey,
    value: ConsumerGroupTargetAssignmentMetadataValue | None,
) -> ConsumerGroup:
    if value is None:
        return group._replace(assignment_epoch=LEAVE_EPOCH, assignment_timestamp_ms=0)
    return group._replace(assignment_epoch=value.assignment_epoch, assignment_timestamp_ms=value.assignment_timestamp)


def _target(
    group: ConsumerGroup,
    key: ConsumerGroupTargetAssignmentMemberKey,
    value: ConsumerGroupTargetAssignmentMemberValue | None,
) -> ConsumerGroup:
    if value is not None:
        target = {topic.topic_id: frozenset(topic.partitions) for topic in value.topic_partitions}
        return group._replace(targets=group.targets.set(key.member_id, target))
    if key.member_id in group.targets:
        return group._replace(targets=group.targets.delete(key.member_id))
    return group


def _current(
    group: ConsumerGroup,
    key: ConsumerGroupCurrentMemberAssignmentKey,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> ConsumerGroup:
    before = group.members.get(key.member_id)
    if value is None:
        if before is None:
            return group
        left = before._replace(
            member_epoch=LEAVE_EPOCH, previous_member_epoch=-1, assigned=NOTHING_OWNED, revoking=NOTHING_OWNED
        )
        return group.with_member(left)
    member = before or ConsumerMember(key.member_id)
    return group.with_member(
        member._replace(
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=_STATES.get(value.state, MemberState.UNKNOWN),
            assigned=_owned(value.assigned_partitions, value.member_epoch),
            revoking=_owned(value.partitions_pending_revocation, value.member_epoch),
        )
    )


def _regex(
    group: ConsumerGroup, key: ConsumerGroupRegularExpressionKey, value: ConsumerGroupRegularExpressionValue | None
) -> ConsumerGroup:
    regex = key.regular_expression
    if value is not None:
        resolved = ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)
        return group._replace(regexes=group.regexes.set(regex, resolved))
    return group._replace(regexes=group.regexes.delete(regex)) if regex in group.regexes else group


def _owned(topics: list[TopicPartitions], member_epoch: int) -> Owned:
    """Partitions with their epochs; records from before there were any, or damaged ones, count from the member's."""
    owned: dict[Any, dict[int, int]] = {}
    for topic in topics:
        epochs = topic.assignment_epochs
        if epochs is None or len(epochs) != len(topic.partitions):
            epochs = [max(member_epoch, 0)] * len(topic.partitions)
        owned[topic.topic_id] = dict(zip(topic.partitions, epochs, strict=True))
    return owned or NOTHING_OWNED


def _classic(metadata: ClassicMemberMetadata | None) -> ClassicSide | None:
    if metadata is None:
        return None
    protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in metadata.supported_protocols)
    return ClassicSide(metadata.session_timeout_ms, protocols)


_REPLAYS: Final[dict[type[CoordinatorKey], Callable[[ConsumerGroup, Any, Any], ConsumerGroup]]] = {
    ConsumerGroupMetadataKey: _epoch,
    ConsumerGroupPartitionMetadataKey: _partition_metadata,
    ConsumerGroupMemberMetadataKey: _subscription,
    ConsumerGroupTargetAssignmentMetadataKey: _target_epoch,
    ConsumerGroupTargetAssignmentMemberKey: _target,
    ConsumerGroupCurrentMemberAssignmentKey: _current,
    ConsumerGroupRegularExpressionKey: _regex,
}

KEY_TYPES: Final = tuple(_REPLAYS)
