"""DescribeGroups and what ListGroups says of classic groups."""

from ottla.coordinator.group.classic.group import ClassicMember
from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.state import ClassicState
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember

_NOT_FOUND_SINCE = 6


def describe(group: LiveGroup) -> DescribedGroup:
    """The group; protocol and metadata mean something only while it is stable."""
    protocol = group.protocol if group.state is ClassicState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[_describe_member(member, protocol) for member in group.members.values()],
    )


def describe_missing(group_id: str, message: str, api_version: int) -> DescribedGroup:
    """A group that is not there, or not a classic one: Dead, and from v6 on an error (KIP-1043)."""
    dead = DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD.value)
    if api_version >= _NOT_FOUND_SINCE:
        dead.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        dead.error_message = message
    return dead


def _describe_member(member: ClassicMember, protocol: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if protocol is None else member.metadata(protocol),
        member_assignment=member.assignment,
    )
