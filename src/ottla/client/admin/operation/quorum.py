"""The metadata quorum: described, and its voters changed (KIP-853)."""

from collections.abc import Iterable
from typing import Final

from ottla.base.ids import Uuid
from ottla.client.admin.channel import CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.value.cluster import QuorumInfo, QuorumReplica, RaftVoterEndpoint
from ottla.protocol.errors import UnknownServerError, error_for
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from ottla.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    RequestPartitionData,
    RequestTopicData,
)
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse

_METADATA_LOG: Final = "__cluster_metadata"


class QuorumOperations(AdminOperations):
    """Operations on the metadata quorum."""

    async def describe_metadata_quorum(self) -> QuorumInfo:
        """The leader, the voters and the observers of the metadata log."""
        request = DescribeQuorumRequest(
            topics=[RequestTopicData(topic_name=_METADATA_LOG, partitions=[RequestPartitionData(partition_index=0)])]
        )

        async def attempt() -> QuorumInfo:
            return quorum_info(await self._channel.ask_once(CONTROLLER, request, DescribeQuorumResponse))

        return await self._channel.persist(attempt)

    async def add_raft_voter(
        self,
        voter_id: int,
        directory_id: Uuid,
        endpoints: Iterable[RaftVoterEndpoint],
        *,
        cluster_id: str | None = None,
    ) -> None:
        """Makes a controller a voter; it must be running and caught up."""
        request = AddRaftVoterRequest(
            cluster_id=cluster_id,
            timeout_ms=self._channel.request_timeout_ms,
            voter_id=voter_id,
            voter_directory_id=directory_id,
            listeners=[Listener(name=end.listener, host=end.host, port=end.port) for end in endpoints],
        )
        await self._channel.ask(CONTROLLER, request, AddRaftVoterResponse)

    async def remove_raft_voter(self, voter_id: int, directory_id: Uuid, *, cluster_id: str | None = None) -> None:
        """Takes a voter out of the quorum."""
        request = RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=directory_id)
        await self._channel.ask(CONTROLLER, request, RemoveRaftVoterResponse)


def quorum_info(response: DescribeQuorumResponse) -> QuorumInfo:
    """The answer's entry for the only partition."""
    partitions = [part for topic in response.topics for part in topic.partitions]
    if len(partitions) != 1:
        raise UnknownServerError(f"an answer about {len(partitions)} metadata logs instead of one")
    [found] = partitions
    if found.error_code:
        raise error_for(found.error_code, found.error_message or None)
    return QuorumInfo(
        leader_id=found.leader_id,
        leader_epoch=found.leader_epoch,
        high_watermark=found.high_watermark,
        voters=tuple(map(_replica, found.current_voters)),
        observers=tuple(map(_replica, found.observers)),
        nodes={
            node.node_id: tuple(RaftVoterEndpoint(end.name, end.host, end.port) for end in node.listeners)
            for node in response.nodes
        },
    )


def _replica(found: ReplicaState) -> QuorumReplica:
    return QuorumReplica(
        found.replica_id,
        found.replica_directory_id,
        found.log_end_offset,
        None if found.last_fetch_timestamp < 0 else found.last_fetch_timestamp,
        None if found.last_caught_up_timestamp < 0 else found.last_caught_up_timestamp,
    )
