"""The records of consumer groups, in the shape and the order in which Kafka 4.3 writes them."""

from ottla.coordinator.group.assignors.group_spec import Assignment
from ottla.coordinator.group.consumer.group import ConsumerGroup, ResolvedRegex
from ottla.coordinator.group.consumer.member import ClassicSide, ConsumerMember, Owned
from ottla.protocol.coordinator_record import CoordinatorKey, CoordinatorRecord, CoordinatorValue
from ottla.protocol.group_log.consumer import (
    ClassicMemberMetadata,
    ClassicProtocol,
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
    TopicPartition,
    TopicPartitions,
)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The group has come to an epoch, with topics of that hash."""
    value = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return _record(ConsumerGroupMetadataKey(group_id=group_id), value)


def subscription_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """The record of a member's identity and subscription."""
    value = ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor,
        classic_member_metadata=None if member.classic is None else _classic(member.classic),
    )
    return _record(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value)


def target_record(group_id: str, member_id: str, target: Assignment) -> CoordinatorRecord:
    """The record of a member's target assignment."""
    topics = [
        TopicPartition(topic_id=topic_id, partitions=sorted(partitions)) for topic_id, partitions in target.items()
    ]
    value = ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topics)
    return _record(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), value)


def target_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
    """All targets are those of an epoch, made at that time."""
    value = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp_ms)
    return _record(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), value)


def current_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """The record of a member's owned partitions, epoch and state."""
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=int(member.state),
        assigned_partitions=_owned(member.assigned),
        partitions_pending_revocation=_owned(member.revoking),
    )
    return _record(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id), value)


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex) -> CoordinatorRecord:
    """The record of an expression's matching topics."""
    value = ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.timestamp_ms
    )
    return _record(ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex), value)


def regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    """No member has that expression any more."""
    return _tombstone(ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex))


def partition_metadata_tombstone(group_id: str) -> CoordinatorRecord:
    """Deletes what brokers before 4.1 wrote."""
    return _tombstone(ConsumerGroupPartitionMetadataKey(group_id=group_id))


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """Forgets a member: what it owns first, so that no reader sees a partition owned by an unknown member."""
    return [
        _tombstone(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)),
        _tombstone(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)),
        _tombstone(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id)),
    ]


def group_tombstones(group_id: str, group: ConsumerGroup) -> list[CoordinatorRecord]:
    """Forgets a group, part by part."""
    members = sorted(group.members)
    current = [ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member) for member in members]
    targets = [ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member) for member in members]
    wants = [ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member) for member in members]
    return [
        *map(_tombstone, current),
        *map(_tombstone, targets),
        _tombstone(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)),
        *map(_tombstone, wants),
        *(regex_tombstone(group_id, regex) for regex in sorted(group.regexes)),
        partition_metadata_tombstone(group_id),
        _tombstone(ConsumerGroupMetadataKey(group_id=group_id)),
    ]


def group_records(group_id: str, group: ConsumerGroup) -> list[CoordinatorRecord]:
    """A group as a whole, when one of another kind becomes it."""
    members = [group.members[member_id] for member_id in sorted(group.members)]
    return [
        *(subscription_record(group_id, member) for member in members),
        epoch_record(group_id, group.epoch, group.metadata_hash),
        *(target_record(group_id, member.member_id, group.target(member.member_id)) for member in members),
        target_epoch_record(group_id, group.assignment_epoch, group.assignment_timestamp_ms),
        *(current_record(group_id, member) for member in members),
    ]


def _owned(owned: Owned) -> list[TopicPartitions]:
    return [
        TopicPartitions(
            topic_id=topic_id,
            partitions=sorted(partitions),
            assignment_epochs=[partitions[partition] for partition in sorted(partitions)],
        )
        for topic_id, partitions in owned.items()
    ]


def _classic(classic: ClassicSide) -> ClassicMemberMetadata:
    protocols = [ClassicProtocol(name=name, metadata=metadata) for name, metadata in classic.protocols]
    return ClassicMemberMetadata(session_timeout_ms=classic.session_timeout_ms, supported_protocols=protocols)


def _record(key: CoordinatorKey, value: CoordinatorValue) -> CoordinatorRecord:
    return CoordinatorRecord(key, value, 0)


def _tombstone(key: CoordinatorKey) -> CoordinatorRecord:
    return CoordinatorRecord(key, None, -1)
