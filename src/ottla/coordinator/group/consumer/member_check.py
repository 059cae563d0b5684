"""Whether a request comes from the member that it says, in the epoch that the member is in."""

from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import JOIN_EPOCH, ConsumerMember
from ottla.coordinator.group.consumer.reconciliation import Reported
from ottla.protocol.errors import FencedInstanceIdError, FencedMemberEpochError, UnknownMemberIdError


def find_member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    """The member that speaks; UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if its instance is another member now."""
    if instance_id is None:
        member = group.members.get(member_id)
    else:
        member = group.static_member(instance_id)
        if member is not None and member.member_id != member_id:
            raise FencedInstanceIdError(f"Instance {instance_id} is member {member.member_id} now, not {member_id}.")
    if member is None:
        raise UnknownMemberIdError(f"{instance_id or member_id} is not a member of the group.")
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
    raise FencedMemberEpochError(
        f"The member is in epoch {member.member_epoch}, not {epoch}: it must give up all partitions and join again."
    )


def _is_within(reported: Reported | None, member: ConsumerMember) -> bool:
    if reported is None:
        return False
    return all(
        topic_id in member.assigned and partitions <= member.assigned[topic_id].keys()
        for topic_id, partitions in reported.items()
    )
