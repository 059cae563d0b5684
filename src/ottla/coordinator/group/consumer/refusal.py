"""Answers to requests about consumer groups that are refused as a whole."""

from ottla.protocol.errors import ApiError
from ottla.protocol.messages.consumer_group_describe import DescribedGroup
from ottla.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse


def refused_consumer_heartbeat(error: ApiError) -> ConsumerGroupHeartbeatResponse:
    """ConsumerGroupHeartbeat."""
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=str(error) or None)


def refused_consumer_description(group_id: str, error: ApiError) -> DescribedGroup:
    """One group of ConsumerGroupDescribe."""
    return DescribedGroup(group_id=group_id, error_code=error.code, error_message=str(error) or None)
