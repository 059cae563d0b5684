"""Another broker as a follower sees it: replication's `LeaderEndpoint` on a connection to its inter-broker listener.

Its address is looked up for every request, because a broker may come back elsewhere. What is under way when the
endpoint is closed, or when the broker has moved, is forgotten or fails; the follower asks again.
"""

import asyncio
from collections.abc import Callable, Sequence

from ottla.base.frozen import frozen
from ottla.broker.adapters.replica_session import ReplicaSession
from ottla.broker.quorum.quorum_network import Peer
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ApiError,
    BrokerNotAvailableError,
    ErrorCode,
    NetworkError,
    UnknownServerError,
    error_for,
)
from ottla.protocol.messages.fetch import FetchRequest, FetchResponse, PartitionData, ReplicaState
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.raft.identity import Node
from ottla.replication.follower.leader_endpoint import (
    FetchedByPartition,
    OffsetRequest,
    ReplicaFetch,
    ReplicaFetched,
    TopicIdPartition,
)
from ottla.storage.leader_epoch.checkpoint import EpochEntry


@frozen(kw_only=True)
class Follower:
    """The fetching broker, with its settings of the same names (`replica.fetch.…`)."""

    node_id: int
    broker_epoch: Callable[[], int]
    socket_timeout_ms: int = 30_000
    fetch_wait_max_ms: int = 500
    fetch_min_bytes: int = 1
    fetch_response_max_bytes: int = 10 << 20
    fetch_max_bytes: int = 1 << 20


class BrokerEndpoint:
    """One other broker. Loop thread only."""

    def __init__(
        self,
        find: Callable[[], Node | None],
        connect: Callable[[Node], Peer],
        follower: Follower,
    ) -> None:
        """`find` tells where the broker is now; None if it is registered nowhere."""
        self._find = find
        self._connect = connect
        self._follower = follower
        self._loop = asyncio.get_running_loop()
        self._session = ReplicaSession(follower.fetch_max_bytes)
        self._peer: tuple[Node, Peer] | None = None
        self._is_closed = False

    def fetch(self, wanted: Sequence[ReplicaFetch], done: Callable[[FetchedByPartition | ApiError], None]) -> None:
        """Fetches in a session; one that the leader does not know is begun anew by the next fetch."""
        follower, session = self._follower, self._session
        topics, forgotten = session.topics(wanted)
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=follower.node_id, replica_epoch=follower.broker_epoch()),
            max_wait_ms=follower.fetch_wait_max_ms,
            min_bytes=follower.fetch_min_bytes,
            max_bytes=follower.fetch_response_max_bytes,
            session_id=session.session_id,
            session_epoch=session.epoch,
            topics=topics,
            forgotten_topics_data=forgotten,
        )

        def heard(answer: Response | ApiError) -> None:
            if isinstance(answer, FetchResponse) and not answer.error_code:
                session.answered(answer.session_id)
                done(_fetched(answer))
                return
            if isinstance(answer, FetchResponse) and answer.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                session.forget()
            else:
                session.failed()
            if isinstance(answer, FetchResponse):
                done(error_for(answer.error_code))
            else:
                done(answer if isinstance(answer, ApiError) else UnknownServerError())

        self._send(request, heard)

    def list_offset(self, request: OffsetRequest, done: Callable[[int | ApiError], None]) -> None:
        """The leader's log end or log start."""
        asked = ListOffsetsPartition(
            partition_index=request.partition,
            current_leader_epoch=request.current_leader_epoch,
            timestamp=request.timestamp,
        )
        listing = ListOffsetsRequest(
            replica_id=self._follower.node_id,
            topics=[ListOffsetsTopic(name=request.topic, partitions=[asked])],
            timeout_ms=self._follower.socket_timeout_ms,
        )

        def heard(answer: Response | ApiError) -> None:
            if not isinstance(answer, ListOffsetsResponse):
                done(answer if isinstance(answer, ApiError) else UnknownServerError())
                return
            found = next((one for named in answer.topics for one in named.partitions), None)
            if found is None:
                done(UnknownServerError("the leader's answer leaves the partition out"))
            else:
                done(error_for(found.error_code) if found.error_code else found.offset)

        self._send(listing, heard)

    def close(self) -> None:
        """Asks nothing more, and hears nothing more."""
        self._is_closed = True
        if self._peer is not None:
            self._peer[1].close()
            self._peer = None

    def _send(self, request: Request, heard: Callable[[Response | ApiError], None]) -> None:
        def unless_closed(answer: Response | Exception) -> None:
            if not self._is_closed:
                heard(answer if isinstance(answer, (Response, ApiError)) else NetworkError(str(answer)))

        peer = self._reachable()
        if peer is None:
            self._loop.call_soon(unless_closed, BrokerNotAvailableError())
        else:
            peer.send(request, unless_closed, timeout_ms=self._follower.socket_timeout_ms)

    def _reachable(self) -> Peer | None:
        node = self._find()
        if self._peer is not None:
            if self._peer[0] == node:
                return self._peer[1]
            self._peer[1].close()
            self._peer = None
            self._session.forget()
        if node is None or self._is_closed:
            return None
        peer = self._connect(node)
        self._peer = (node, peer)
        return peer


def _fetched(answer: FetchResponse) -> FetchedByPartition:
    return {
        TopicIdPartition(topic.topic_id, partition.partition_index): _partition(partition)
        for topic in answer.responses
        for partition in topic.partitions
    }


def _partition(data: PartitionData) -> ReplicaFetched:
    diverging = data.diverging_epoch
    # What a connection brings are views of its own; regions of files are for sending.
    records = data.records if isinstance(data.records, memoryview) else b""
    return ReplicaFetched(
        error_code=data.error_code,
        records=records,
        high_watermark=data.high_watermark,
        log_start_offset=data.log_start_offset,
        diverging_epoch=EpochEntry(diverging.epoch, diverging.end_offset) if diverging.epoch >= 0 else None,
    )
