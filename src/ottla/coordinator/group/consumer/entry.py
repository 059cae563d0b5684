"""Identifies the group and the member of a heartbeat to a consumer group.

A join makes the group, from nothing, from an empty classic group or, if all its members can be taken over, from one
that is in use. Everybody else must be known, in the epoch that it is in or in the one before if its last answer may
have been lost (KIP-848); a static member is known by its instance id, and may take its former self's place only after
that one left (KIP-345).
"""

from typing import TYPE_CHECKING, Final

from ottla.base.ids import Uuid
from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.classic.group import ClassicGroup
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.assignment.reconciliation import Reported
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import JOIN_EPOCH, STATIC_LEAVE_EPOCH, ConsumerMember
from ottla.coordinator.group.consumer.member_check import check_epoch, find_member
from ottla.coordinator.group.consumer.migration.upgrade import Upgrade
from ottla.protocol.errors import (
    GroupIdNotFoundError,
    GroupMaxSizeReachedError,
    UnknownMemberIdError,
    UnreleasedInstanceIdError,
)
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


class Entry:
    """Lets members in."""

    def __init__(self, membership: Membership, classic: ClassicGroups, upgrade: Upgrade) -> None:
        self._membership: Final = membership
        self._classic: Final = classic
        self._upgrade: Final = upgrade

    def open(self, state: "GroupsState", request: ConsumerGroupHeartbeatRequest, now_ms: int) -> Draft:
        """The group that a heartbeat is for, with room for its member."""
        group_id = request.group_id
        group = state.groups.get(group_id)
        result = ResultBuilder(now_ms)
        is_joining = request.member_epoch == JOIN_EPOCH
        if isinstance(group, ConsumerGroup):
            draft = Draft(group_id, group, result)
        elif is_joining and group is None:
            draft = Draft(group_id, ConsumerGroup(), result)
        elif is_joining and isinstance(group, ClassicGroup):
            if self._classic.is_empty(state, group_id):
                result.records.extend(self._classic.deletion(state, group_id))
                draft = Draft(group_id, ConsumerGroup(), result)
            else:
                draft = self._upgrade.convert(state, group_id, result)
        elif group is None:
            raise GroupIdNotFoundError(f"Consumer group {group_id} not found.")
        else:
            raise GroupIdNotFoundError(f"Group {group_id} is not a consumer group.")
        self.check_room(draft.group, request.member_id)
        return draft

    def check_room(self, group: ConsumerGroup, member_id: str) -> None:
        """Refuses one more than there may be."""
        size_max = self._membership.context.config.consumer.max_size
        if len(group.members) >= size_max and member_id not in group.members:
            raise GroupMaxSizeReachedError(
                f"The consumer group has reached its maximum capacity of {size_max} members."
            )

    def member(self, draft: Draft, request: ConsumerGroupHeartbeatRequest, reported: Reported | None) -> ConsumerMember:
        """The sender of a heartbeat, as it was known before."""
        member_id = request.member_id or self.new_member_id()
        is_joining = request.member_epoch == JOIN_EPOCH
        if request.instance_id is not None:
            return self._static_member(draft, request, member_id, reported)
        member = draft.group.members.get(member_id)
        if member is None:
            if not is_joining:
                raise UnknownMemberIdError(f"Member {member_id} is not a member of group {draft.group_id}.")
            return ConsumerMember(member_id)
        check_epoch(member, request.member_epoch, reported)
        return member

    def new_member_id(self) -> str:
        """An id for a member that did not bring its own; never one that looks like an option of a tool."""
        while (member_id := str(Uuid(self._membership.context.chance.randbytes(16)))).startswith("-"):
            pass
        return member_id

    def _static_member(
        self, draft: Draft, request: ConsumerGroupHeartbeatRequest, member_id: str, reported: Reported | None
    ) -> ConsumerMember:
        instance_id = request.instance_id
        present = draft.group.static_member(instance_id)
        if request.member_epoch != JOIN_EPOCH:
            member = find_member(draft.group_id, draft.group, member_id, instance_id)
            check_epoch(member, request.member_epoch, reported)
            return member
        if present is None:
            return draft.group.members.get(member_id) or ConsumerMember(member_id)
        if present.member_id == member_id and present.member_epoch != STATIC_LEAVE_EPOCH:
            return present
        if present.classic is None and present.member_epoch != STATIC_LEAVE_EPOCH:
            raise UnreleasedInstanceIdError(
                f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance "
                f"id is owned by {present.member_id} member."
            )
        return self.take_over(draft, present, member_id)

    def take_over(self, draft: Draft, former: ConsumerMember, member_id: str) -> ConsumerMember:
        """A static member is back: it starts from epoch 0 with what its former self owned."""
        member = former._replace(member_id=member_id, member_epoch=JOIN_EPOCH, previous_member_epoch=0)
        self._membership.replace(draft, former, member)
        return member
