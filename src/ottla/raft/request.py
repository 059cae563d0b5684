"""Checks that requests of the quorum have in common, in the order in which Kafka makes them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ottla.protocol.errors import ErrorCode
from ottla.raft.context import RaftContext
from ottla.raft.event import RequestReceived
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, ReplicaKey
from ottla.raft.roles.leader import Leader

NodeEndpoint = TypeVar("NodeEndpoint")


def is_our_cluster(context: RaftContext, cluster_id: str | None) -> bool:
    """Whether a request is for our cluster; one that names none is."""
    return cluster_id is None or cluster_id == context.setup.cluster_id


def only_partition(topics: Sequence[Any]) -> Any | None:
    """The metadata partition's entry if that is all there is, in a message whose topics have a `topic_name`."""
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.partition_index == METADATA_PARTITION else None


def voter_request_error(context: RaftContext, remote_id: int, epoch: int) -> ErrorCode:
    """Checks a request of one voter to another. It does not check the voter set, as ours may be old."""
    if epoch < context.quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.INVALID_REQUEST if remote_id < 0 else ErrorCode.NONE


def leader_request_error(context: RaftContext, epoch: int) -> ErrorCode:
    """Checks a request that only a leader answers."""
    if epoch < context.quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > context.quorum.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if not isinstance(context.quorum.role, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.BROKER_NOT_AVAILABLE if context.is_shutting_down else ErrorCode.NONE


def is_our_key(context: RaftContext, voter: ReplicaKey) -> bool:
    """Whether a request meant for a voter is meant for us; one that names no voter is (KIP-853).

    The name catches a request that reached the new owner of an old address, or a node whose disk was replaced.
    """
    return voter.id < 0 or voter.is_met_by(context.local.key)


def leader_node_endpoints(
    context: RaftContext, event: RequestReceived, make: Callable[..., NodeEndpoint], *, since_version: int
) -> list[NodeEndpoint]:
    """The leader's address for a response that names it, on the listener that the request came in on."""
    role = context.quorum.role
    address = role.leader_endpoints.address(event.listener)
    if event.api_version < since_version or role.leader_id is None or address is None:
        return []
    return [make(node_id=role.leader_id, host=address.host, port=address.port)]
