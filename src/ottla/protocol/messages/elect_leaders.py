"""ElectLeaders (key 43): starts elections of partition leaders.

Sent by admin clients to any broker, which forwards it to the controller. Null `topic_partitions` means every
partition; the answer then leaves out those that need no election, which are ELECTION_NOT_NEEDED when named.
`election_type` (v1, KIP-460) is 0 for the preferred replica, 1 for an unclean election, which may lose records; v0
knows only the preferred one (KIP-183).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, string


class TopicPartitions(Struct):
    topic: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class ElectLeadersRequest(Request, api=ApiKey.ELECT_LEADERS, versions="0-2", flexible="2+"):
    election_type: int = int8("1+")
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, "0+", nullable="0+")
    timeout_ms: int = int32("0+", default=60000)


class PartitionResult(Struct):
    partition_id: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")


class ReplicaElectionResult(Struct):
    topic: str = string("0+")
    partition_result: list[PartitionResult] = array(PartitionResult, "0+")


class ElectLeadersResponse(Response, api=ApiKey.ELECT_LEADERS, versions="0-2", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("1+")
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult, "0+")
