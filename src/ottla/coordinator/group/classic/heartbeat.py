"""Heartbeat on classic groups: a sign of life, answered with what the group wants of the member.

While the group is being loaded the answer is success, so that members stay calm. KIP-345.
"""

from typing import TYPE_CHECKING

from ottla.coordinator.group.classic.rebalance import Rebalancer
from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.classic.state import ClassicState
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.errors import ErrorCode, IllegalGenerationError, UnknownMemberIdError
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

if TYPE_CHECKING:
    from ottla.coordinator.group.group_state import GroupsState


def heartbeat(
    rebalancer: Rebalancer, state: "GroupsState", request: HeartbeatRequest, now_ms: int
) -> CoordinatorResult:
    """The operation. Between join and sync a member may begin with heartbeats: nothing is wanted of it then."""
    result = ResultBuilder(now_ms)
    group = rebalancer.groups.find(state, request.group_id, result)
    if group is None:
        raise UnknownMemberIdError(f"Group {request.group_id} not found.")
    group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise IllegalGenerationError
    rebalancer.extend_session(group, request.member_id, now_ms)
    is_wanted = group.state is ClassicState.PREPARING_REBALANCE
    error_code = ErrorCode.REBALANCE_IN_PROGRESS if is_wanted else ErrorCode.NONE
    return result.build(HeartbeatResponse(error_code=error_code))
