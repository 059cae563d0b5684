"""DescribeQuorum on the controller listener."""

from ottla.broker.controller_handlers.describe_quorum import keep_to_the_past
from ottla.protocol.messages.describe_quorum import (
    DescribeQuorumResponse,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)


def test_nothing_is_said_to_have_happened_later_than_now() -> None:
    ahead, never = ReplicaState(last_fetch_timestamp=1_001, last_caught_up_timestamp=999), ReplicaState()
    partition = ResponsePartitionData(current_voters=[ahead], observers=[never])
    keep_to_the_past(DescribeQuorumResponse(topics=[ResponseTopicData(partitions=[partition])]), now_ms=1_000)
    assert (ahead.last_fetch_timestamp, ahead.last_caught_up_timestamp) == (1_000, 999)
    assert (never.last_fetch_timestamp, never.last_caught_up_timestamp) == (-1, -1)
