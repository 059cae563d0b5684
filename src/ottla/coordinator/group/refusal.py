"""Answers to group requests that are refused as a whole."""

from typing import Final

from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages import consumer_group_describe
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from ottla.protocol.messages.delete_groups import DeletableGroupResult
from ottla.protocol.messages.describe_groups import DescribedGroup
from ottla.protocol.messages.heartbeat import HeartbeatResponse
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from ottla.protocol.messages.sync_group import SyncGroupResponse

_NULL_PROTOCOL_SINCE: Final = 7
_NO_LIST_UNTIL: Final = 2
"""Up to this version LeaveGroup is about one member, and its code stands at the top."""
_OF_COORDINATOR: Final = frozenset(
    {
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""Errors that say nothing of the member."""


def refused_join(request: JoinGroupRequest, error: ApiError) -> JoinGroupResponse:
    """JoinGroup; the member's id comes back with what is wrong with it."""
    member_id = "" if error.code in _OF_COORDINATOR else request.member_id
    return JoinGroupResponse(error_code=error.code, protocol_name=None, member_id=member_id)


def join_answer(response: JoinGroupResponse, api_version: int) -> JoinGroupResponse:
    """The answer in the request's version: early ones have no null for the protocol."""
    if api_version < _NULL_PROTOCOL_SINCE and response.protocol_name is None:
        response.protocol_name = ""
    return response


def refused_sync(error: ApiError) -> SyncGroupResponse:
    """SyncGroup."""
    return SyncGroupResponse(error_code=error.code)


def refused_heartbeat(error: ApiError) -> HeartbeatResponse:
    """Heartbeat; while the group is loaded nothing is known to be wrong, and members stay calm."""
    is_loading = error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if is_loading else error.code)


def refused_leave(request: LeaveGroupRequest, error: ApiError) -> LeaveGroupResponse:
    """LeaveGroup; in a group that is not there every member is unknown."""
    if error.code != ErrorCode.UNKNOWN_MEMBER_ID:
        return LeaveGroupResponse(error_code=error.code)
    answers = [
        MemberResponse(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            error_code=ErrorCode.UNKNOWN_MEMBER_ID,
        )
        for member in request.members
    ]
    return LeaveGroupResponse(members=answers)


def leave_answer(response: LeaveGroupResponse, api_version: int) -> LeaveGroupResponse:
    """The answer in the request's version: one member's code is the code of the whole."""
    if api_version > _NO_LIST_UNTIL or not response.members:
        return response
    return LeaveGroupResponse(error_code=response.members[0].error_code)


def refused_description(group_id: str, error: ApiError) -> DescribedGroup:
    """One group of DescribeGroups."""
    return DescribedGroup(group_id=group_id, error_code=error.code)


def refused_deletion(group_id: str, error: ApiError) -> DeletableGroupResult:
    """One group of DeleteGroups."""
    return DeletableGroupResult(group_id=group_id, error_code=error.code)


def refused_consumer_heartbeat(error: ApiError) -> ConsumerGroupHeartbeatResponse:
    """ConsumerGroupHeartbeat."""
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=str(error) or None)


def refused_consumer_description(group_id: str, error: ApiError) -> consumer_group_describe.DescribedGroup:
    """One group of ConsumerGroupDescribe."""
    return consumer_group_describe.DescribedGroup(
        group_id=group_id, error_code=error.code, error_message=str(error) or None
    )
