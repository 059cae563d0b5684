"""Whether a request comes from the member that it says, in the epoch that the member is in."""

from ottla.coordinator.group.consumer.assignment.reconciliation import Reported
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import JOIN_EPOCH, ConsumerMember
from ottla.protocol.errors import FencedInstanceIdError, FencedMemberEpochError, UnknownMemberIdError


def find_member(group_id: str, group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    """The member that speaks; UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if its instance is another member now."""
    if instance_id is None:
        member = group.members.get(member_id)
        if member is None:
            raise UnknownMemberIdError(f"Member {member_id} is not a member of group {group_id}.")
        return member
    member = group.static_member(instance_id)
    if member is None:
        raise UnknownMemberIdError(f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise FencedInstanceIdError(
            f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
        )
    return member


def check_epoch(member: ConsumerMember, epoch: int, reported: Reported | None) -> None:
    """Refuses an epoch that is not the member's, with FENCED_MEMBER_EPOCH.

    The one before will do if the member owns nothing but what it was given since: then it has not heard the answer
    that raised it.
    """
    if epoch in (JOIN_EPOCH, member.member_epoch):
        return
    if epoch < member.member_epoch and epoch == member.previous_member_epoch and _is_within(reported, member):
        return
    compared = "greater" if epoch > member.member_epoch else "smaller"
    raise FencedMemberEpochError(
        f"The consumer group member has a {compared} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.member_epoch}). The member must abandon all its partitions and rejoin."
    )


def _is_within(reported: Reported | None, member: ConsumerMember) -> bool:
    if reported is None:
        return False
    return all(
        topic_id in member.assigned and partitions <= member.assigned[topic_id].keys()
        for topic_id, partitions in reported.items()
    )
