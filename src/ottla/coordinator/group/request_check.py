"""Checks of requests about groups that need no group; they come first."""

from collections.abc import Sequence
from typing import Final

from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.coordinator.group.consumer.member import JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from ottla.protocol.errors import (
    InconsistentGroupProtocolError,
    InvalidGroupIdError,
    InvalidRequestError,
    InvalidSessionTimeoutError,
    UnsupportedAssignorError,
)
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest

_PROTOCOL_SINCE: Final = 5
_CLIENT_MADE_IDS_SINCE: Final = 1


def check_group_id(group_id: str) -> None:
    """The empty id is for offsets of old clients only; it has no members."""
    if not group_id:
        raise InvalidGroupIdError


def check_join(request: JoinGroupRequest, config: ClassicGroupConfig) -> None:
    """Refuses session timeouts that the broker does not want."""
    check_group_id(request.group_id)
    if not config.min_session_timeout_ms <= request.session_timeout_ms <= config.max_session_timeout_ms:
        raise InvalidSessionTimeoutError


def check_sync_protocol(request: SyncGroupRequest, api_version: int) -> None:
    """SyncGroup names its protocol from v5 on, and must (KIP-559); Kafka checks this before authorisation."""
    if api_version >= _PROTOCOL_SINCE and (request.protocol_type is None or request.protocol_name is None):
        raise InconsistentGroupProtocolError


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
