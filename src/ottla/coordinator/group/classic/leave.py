"""LeaveGroup on classic groups: several members at once, each with its own result (KIP-345).

An administrator may name a static member by its instance id alone. One rebalance follows for all that left.
"""

from typing import TYPE_CHECKING, Final

from ottla.coordinator.group.classic.live_group import LiveGroup
from ottla.coordinator.group.classic.rebalance import Rebalancer
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.rebalance_reason import RebalanceReason
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.errors import ApiError, ErrorCode, UnknownMemberIdError
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState

_REASON_CHARACTERS_MAX: Final = 255


class Leaving:
    """Lets members out."""

    def __init__(self, rebalancer: Rebalancer) -> None:
        self._rebalancer: Final = rebalancer

    def leave(self, state: "GroupsState", request: LeaveGroupRequest, now_ms: int) -> CoordinatorResult:
        """The operation."""
        result = ResultBuilder(now_ms)
        group = self._rebalancer.groups.find(state, request.group_id, result)
        if group is None:
            raise UnknownMemberIdError(f"Group {request.group_id} not found.")
        answers: list[MemberResponse] = []
        left: list[str] = []
        size_before = len(group.members)
        for identity in request.members:
            error_code = ErrorCode.NONE
            try:
                left.append(self._remove(group, identity, result))
            except ApiError as refusal:
                error_code = refusal.code
            answers.append(
                MemberResponse(
                    member_id=identity.member_id,
                    group_instance_id=identity.group_instance_id,
                    error_code=error_code,
                )
            )
        if len(group.members) < size_before:
            self._rebalancer.members_removed(group, RebalanceReason.MEMBER_LEFT, "; ".join(left), result)
        elif left:
            self._rebalancer.pending_removed(group, result)
        return result.build(LeaveGroupResponse(members=answers))

    def _remove(self, group: LiveGroup, identity: MemberIdentity, result: ResultBuilder) -> str:
        """Takes one out; who it was and why, for the log."""
        member_id: str | None = identity.member_id
        if not identity.member_id:
            member_id = group.static_members.get(identity.group_instance_id or "")
            if member_id is None:
                raise UnknownMemberIdError
        elif identity.member_id not in group.pending_members:
            group.validate_member(identity.member_id, identity.group_instance_id)
        self._rebalancer.remove(group, member_id or "", result)
        reason = (identity.reason or "not provided")[:_REASON_CHARACTERS_MAX]
        return f"member {member_id} left, client reason: {reason}"
