"""Checks of a ConsumerGroupHeartbeat that need no group; they come first."""

from collections.abc import Sequence
from typing import Final

from ottla.coordinator.group.consumer.member import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ottla.protocol.errors import InvalidRequestError, UnsupportedAssignorError
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

_CLIENT_MADE_IDS_SINCE: Final = 1


def check_heartbeat(request: ConsumerGroupHeartbeatRequest, api_version: int, assignors: Sequence[str]) -> None:
    """Refuses with INVALID_REQUEST, or UNSUPPORTED_ASSIGNOR for one that is not among `assignors`."""
    epoch = request.member_epoch
    if api_version >= _CLIENT_MADE_IDS_SINCE or epoch > JOIN_EPOCH or epoch == LEAVE_EPOCH:
        _refuse_blank(request.member_id, "MemberId")
    _refuse_blank(request.group_id, "GroupId")
    _refuse_blank(request.instance_id, "InstanceId")
    _refuse_blank(request.rack_id, "RackId")
    if epoch == JOIN_EPOCH:
        _check_join(request)
    elif epoch == STATIC_LEAVE_EPOCH:
        if request.instance_id is None:
            raise InvalidRequestError("InstanceId can't be null.")
    elif epoch < STATIC_LEAVE_EPOCH:
        raise InvalidRequestError("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise UnsupportedAssignorError(
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(assignors)}."
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise InvalidRequestError("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise InvalidRequestError("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise InvalidRequestError(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def _refuse_blank(text: str | None, name: str) -> None:
    if text is not None and not text.strip():
        raise InvalidRequestError(f"{name} can't be empty.")
