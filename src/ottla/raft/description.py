"""DescribeQuorum (key 55): who leads, who votes, who watches, and how far each is."""

from collections.abc import Iterable

from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages import describe_quorum as message
from ottla.raft.context import RaftContext
from ottla.raft.event import RequestReceived
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC
from ottla.raft.request import only_partition
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.replica_progress import ReplicaProgress


def describe_quorum(
    context: RaftContext, event: RequestReceived, request: message.DescribeQuorumRequest, now_ms: int
) -> message.DescribeQuorumResponse:
    """The leader's view; other nodes answer NOT_LEADER_OR_FOLLOWER."""
    if only_partition(request.topics) is None:
        return _unknown_partitions(request)
    leader = context.quorum.role
    partition = message.ResponsePartitionData(partition_index=METADATA_PARTITION)
    topic = message.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    response = message.DescribeQuorumResponse(topics=[topic])
    if not isinstance(leader, Leader):
        partition.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        partition.error_message = str(error_for(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        return response
    partition.leader_id, partition.leader_epoch = leader.local.id, leader.epoch
    partition.high_watermark = -1 if leader.high_watermark is None else leader.high_watermark
    voters = [leader.voters[voter_id] for voter_id in sorted(leader.voters)]
    partition.current_voters = _states(leader, voters, event, now_ms)
    partition.observers = _states(leader, leader.live_observers(now_ms), event, now_ms)
    if event.api_version >= 2:
        response.nodes = [
            message.Node(node_id=voter.key.id, listeners=voter.endpoints.listeners(message.Listener))
            for voter in voters
        ]
    return response


def _states(
    leader: Leader, replicas: Iterable[ReplicaProgress], event: RequestReceived, now_ms: int
) -> list[message.ReplicaState]:
    states = []
    for replica in replicas:
        is_leader = replica.key.id == leader.local.id
        state = message.ReplicaState(
            replica_id=replica.key.id,
            log_end_offset=-1 if replica.end_offset is None else replica.end_offset,
            last_fetch_timestamp=now_ms if is_leader else replica.last_fetch_ms,
            last_caught_up_timestamp=now_ms if is_leader else replica.last_caught_up_ms,
        )
        if event.api_version >= 2:
            state.replica_directory_id = replica.key.directory_id
        states.append(state)
    return states


def _unknown_partitions(request: message.DescribeQuorumRequest) -> message.DescribeQuorumResponse:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topics = [
        message.ResponseTopicData(
            topic_name=topic.topic_name,
            partitions=[
                message.ResponsePartitionData(
                    partition_index=partition.partition_index,
                    error_code=error,
                    error_message=str(error_for(error)),
                )
                for partition in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return message.DescribeQuorumResponse(topics=topics)
