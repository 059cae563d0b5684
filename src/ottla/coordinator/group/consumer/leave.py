"""Leaving a consumer group: on one's own account, for a while, or by time-out.

A leaving member gives up its partitions at once. A static member that says it will be back (epoch -2) keeps them until
its session ends. If only members of the classic protocol are left the group turns classic (`downgrade`).
"""

from typing import TYPE_CHECKING, Final

from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.consumer.assignment.membership import Membership
from ottla.coordinator.group.consumer.draft import Draft
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.member import NOTHING_OWNED, STATIC_LEAVE_EPOCH, ConsumerMember
from ottla.coordinator.group.consumer.member_check import find_member
from ottla.coordinator.group.consumer.member_timer import JOIN, REBALANCE, SESSION, SYNC
from ottla.coordinator.group.consumer.migration.downgrade import Downgrade
from ottla.coordinator.group.consumer.record import current_record
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.runtime.coordinator_result import NOTHING, CoordinatorResult
from ottla.protocol.errors import GroupIdNotFoundError
from ottla.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_TIMED_OUT: Final = {
    SESSION: (RebalanceReason.SESSION_TIMED_OUT, "was not heard of"),
    REBALANCE: (RebalanceReason.SYNC_TIMED_OUT, "did not give up its partitions in time"),
    JOIN: (RebalanceReason.SYNC_TIMED_OUT, "did not join again in time"),
    SYNC: (RebalanceReason.SYNC_TIMED_OUT, "did not ask for its assignment in time"),
}


class Leaving:
    """Takes members out."""

    def __init__(self, membership: Membership, downgrade: Downgrade) -> None:
        self._membership: Final = membership
        self._downgrade: Final = downgrade

    def leave(self, state: "GroupsState", request: ConsumerGroupHeartbeatRequest, now_ms: int) -> CoordinatorResult:
        """ConsumerGroupHeartbeat with an epoch below zero."""
        group_id, member_id, instance_id = request.group_id, request.member_id, request.instance_id
        group = state.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            found = "is not a consumer group" if group_id in state.groups else "not found"
            raise GroupIdNotFoundError(f"Group {group_id} {found}.")
        member = find_member(group_id, group, member_id, instance_id)
        draft = Draft(group_id, group, ResultBuilder(now_ms))
        if instance_id is not None and request.member_epoch == STATIC_LEAVE_EPOCH:
            draft.write(current_record(group_id, _away(member)))
            response = ConsumerGroupHeartbeatResponse(member_id=member_id, member_epoch=STATIC_LEAVE_EPOCH)
        else:
            self.remove(draft, [member], RebalanceReason.MEMBER_LEFT, f"member {member_id} left")
            response = ConsumerGroupHeartbeatResponse(member_id=member_id, member_epoch=request.member_epoch)
        return draft.outcome(response)

    def fence(self, state: "GroupsState", group_id: str, member_id: str, kind: str, now_ms: int) -> CoordinatorResult:
        """A member's timer of that kind ran out."""
        group = state.groups.get(group_id)
        member = group.members.get(member_id) if isinstance(group, ConsumerGroup) else None
        if not isinstance(group, ConsumerGroup) or member is None:
            return NOTHING
        draft = Draft(group_id, group, ResultBuilder(now_ms))
        reason, detail = _TIMED_OUT[kind]
        self.remove(draft, [member], reason, f"member {member_id} {detail}")
        return draft.outcome()

    def remove(self, draft: Draft, members: list[ConsumerMember], reason: RebalanceReason, detail: str) -> None:
        """Takes members out, and the group out of the consumer protocol if no member is left that speaks it."""
        if self._downgrade.is_due(draft.group, members):
            self._downgrade.without(draft, members, detail)
        else:
            self._membership.remove(draft, members, reason, detail)


def _away(member: ConsumerMember) -> ConsumerMember:
    """A static member that will be back: its partitions stay its own, from the first epoch on."""
    assigned = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.assigned.items()}
    return member._replace(member_epoch=STATIC_LEAVE_EPOCH, assigned=assigned, revoking=NOTHING_OWNED)
