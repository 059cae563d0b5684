"""A consumer group as ConsumerGroupDescribe shows it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.consumer.assignment.target import preferred_assignor
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import ConsumerMember
from ottla.coordinator.ports import MetadataView
from ottla.protocol.messages.consumer_group_describe import Assignment, DescribedGroup, Member, TopicPartitions

_CLASSIC_TYPE: Final = 0
_CONSUMER_TYPE: Final = 1


def describe(group_id: str, group: ConsumerGroup, metadata: MetadataView, assignors: Sequence[str]) -> DescribedGroup:
    """The group; authorised operations are for the caller to fill in."""
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(group, assignors),
        members=[_member(group.members[member_id], group, metadata) for member_id in sorted(group.members)],
    )


def _member(member: ConsumerMember, group: ConsumerGroup, metadata: MetadataView) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_regex,
        assignment=_assignment(_owned(member), metadata),
        target_assignment=_assignment(group.target(member.member_id), metadata),
        member_type=_CONSUMER_TYPE if member.classic is None else _CLASSIC_TYPE,
    )


def _owned(member: ConsumerMember) -> dict[Uuid, set[int]]:
    """The partitions that a member owns, with those that it is revoking."""
    owned: dict[Uuid, set[int]] = {}
    for part in (member.assigned, member.revoking):
        for topic_id, partitions in part.items():
            owned.setdefault(topic_id, set()).update(partitions)
    return owned


def _assignment(owned: Mapping[Uuid, Iterable[int]], metadata: MetadataView) -> Assignment:
    """Topics that are gone are left out: they have no name any more."""
    topics = [
        TopicPartitions(topic_id=topic_id, topic_name=topic.name, partitions=sorted(partitions))
        for topic_id, partitions in owned.items()
        if (topic := metadata.topic_by_id(topic_id)) is not None
    ]
    return Assignment(topic_partitions=topics)
