"""The answers to JoinGroup and SyncGroup."""

from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ottla.protocol.messages.sync_group import SyncGroupResponse


def joined_answer(group: LiveGroup, member_id: str) -> JoinGroupResponse:
    """The present generation; the leader also gets the metadata of all members, to assign partitions by it."""
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=group.leader or "",
        member_id=member_id,
        members=member_list(group) if group.leader == member_id else [],
    )


def returned_leader_answer(group: LiveGroup, member_id: str, former_leader: str | None) -> JoinGroupResponse:
    """For a static member that is back under a new id, by a version that can't say `skip_assignment`.

    If it leads it is told its former id as the leader's: it would assign partitions anew otherwise, while the others
    go on with what they have.
    """
    answer = joined_answer(group, member_id)
    answer.members = []
    answer.leader = former_leader or ""
    return answer


def skipping_answer(group: LiveGroup, member_id: str) -> JoinGroupResponse:
    """For a static member that is back under a new id, by a version that can say `skip_assignment` (KIP-814)."""
    answer = joined_answer(group, member_id)
    answer.skip_assignment = group.leader == member_id
    return answer


def member_list(group: LiveGroup) -> list[JoinGroupResponseMember]:
    """All members with what they said for the chosen protocol."""
    protocol = group.protocol or ""
    return [
        JoinGroupResponseMember(
            member_id=member.member_id, group_instance_id=member.instance_id, metadata=member.metadata(protocol)
        )
        for member in group.members.values()
    ]


def synced_answer(group: LiveGroup, member_id: str) -> SyncGroupResponse:
    """The member's share."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        assignment=group.members[member_id].assignment,
    )
