"""A leader on another broker: asked at its present address, understood, and forgotten when it is not wanted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ottla.base.ids import Uuid
from ottla.broker.adapters.leader_endpoint import BrokerEndpoint, Follower
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, ErrorCode, NetworkError
from ottla.protocol.messages.fetch import EpochEndOffset, FetchableTopicResponse, FetchResponse, PartitionData
from ottla.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.raft.identity import Node
from ottla.replication.follower.leader_endpoint import OffsetRequest, ReplicaFetch, TopicIdPartition
from ottla.storage.leader_epoch.checkpoint import EpochEntry

TOPIC = Uuid(b"t" * 16)
WANTED = [ReplicaFetch("t", TOPIC, 0, 10, 3, 5, 4)]


class HandPeer:
    """A connection whose answers a test gives."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.sent: list[tuple[Any, Callable[[Any], None]]] = []
        self.is_closed = False

    def send(self, request: Request, done: Callable[[Response | Exception], None], *, timeout_ms: int) -> None:
        self.sent.append((request, done))

    def answer(self, answer: Response | Exception) -> Any:
        request, done = self.sent.pop(0)
        done(answer)
        return request

    def close(self) -> None:
        self.is_closed = True


class Rig:
    def __init__(self) -> None:
        self.node: Node | None = Node(2, "h2", 9092)
        self.peers: list[HandPeer] = []
        self.endpoint = BrokerEndpoint(
            lambda: self.node, self._connect, Follower(node_id=1, broker_epoch=lambda: 77, fetch_max_bytes=1000)
        )
        self.heard: list[Any] = []

    def _connect(self, node: Node) -> HandPeer:
        self.peers.append(HandPeer(node))
        return self.peers[-1]


def run(scenario: Callable[[Rig], Awaitable[None]]) -> None:
    async def start() -> None:
        await scenario(Rig())

    asyncio.run(start())


def fetched(**values: Any) -> FetchResponse:
    partition = PartitionData(partition_index=0, aborted_transactions=None, **values)
    return FetchResponse(session_id=9, responses=[FetchableTopicResponse(topic_id=TOPIC, partitions=[partition])])


def test_a_fetch_carries_the_broker_and_brings_what_the_leader_has() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        records = memoryview(b"records")
        request = rig.peers[0].answer(fetched(high_watermark=8, log_start_offset=2, records=records))
        assert (request.replica_state.replica_id, request.replica_state.replica_epoch) == (1, 77)
        [partition] = request.topics[0].partitions
        assert (partition.fetch_offset, partition.last_fetched_epoch, partition.current_leader_epoch) == (10, 4, 5)
        [found] = rig.heard
        answer = found[TopicIdPartition(TOPIC, 0)]
        assert (answer.error_code, bytes(answer.records), answer.high_watermark) == (0, b"records", 8)
        assert (answer.log_start_offset, answer.diverging_epoch) == (2, None)

    run(scenario)


def test_divergence_is_told() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        diverging = EpochEndOffset(epoch=3, end_offset=7)
        rig.peers[0].answer(fetched(high_watermark=8, diverging_epoch=diverging, records=None))
        assert rig.heard[0][TopicIdPartition(TOPIC, 0)].diverging_epoch == EpochEntry(3, 7)

    run(scenario)


def test_a_refused_session_is_an_error_and_the_next_fetch_names_everything() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        rig.peers[0].answer(fetched(records=None))
        rig.endpoint.fetch(WANTED, rig.heard.append)
        incremental = rig.peers[0].answer(FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND))
        assert (incremental.session_id, incremental.session_epoch, incremental.topics) == (9, 1, [])
        assert rig.heard[-1].code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        rig.endpoint.fetch(WANTED, rig.heard.append)
        full = rig.peers[0].answer(fetched(records=None))
        assert (full.session_id, full.session_epoch, len(full.topics)) == (0, 0, 1)

    run(scenario)


def test_a_lost_connection_is_an_error() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        rig.peers[0].answer(NetworkError())
        assert isinstance(rig.heard[0], ApiError)

    run(scenario)


def test_a_full_fetch_after_a_lost_one_ends_the_session_at_the_leader() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        rig.peers[0].answer(fetched(records=None))
        rig.endpoint.fetch(WANTED, rig.heard.append)
        rig.peers[0].answer(NetworkError())
        rig.endpoint.fetch(WANTED, rig.heard.append)
        full = rig.peers[0].answer(fetched(records=None))
        assert (full.session_id, full.session_epoch, len(full.topics)) == (9, 0, 1)
        rig.endpoint.fetch(WANTED, rig.heard.append)
        assert rig.peers[0].answer(fetched(records=None)).session_epoch == 1

    run(scenario)


def test_a_broker_that_moved_is_asked_where_it_is_now() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        rig.peers[0].answer(fetched(records=None))
        rig.node = Node(2, "elsewhere", 9092)
        rig.endpoint.fetch(WANTED, rig.heard.append)
        assert rig.peers[0].is_closed
        assert rig.peers[1].node.host == "elsewhere"

    run(scenario)


def test_a_broker_that_is_registered_nowhere_is_not_available() -> None:
    async def scenario(rig: Rig) -> None:
        rig.node = None
        rig.endpoint.fetch(WANTED, rig.heard.append)
        assert rig.heard == []
        await asyncio.sleep(0)
        assert rig.heard[0].code == ErrorCode.BROKER_NOT_AVAILABLE

    run(scenario)


def test_nothing_is_heard_after_the_end() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.fetch(WANTED, rig.heard.append)
        rig.endpoint.close()
        rig.peers[0].answer(NetworkError())
        assert rig.peers[0].is_closed
        assert rig.heard == []

    run(scenario)


def test_the_leaders_bounds() -> None:
    async def scenario(rig: Rig) -> None:
        rig.endpoint.list_offset(OffsetRequest("t", 0, 5, -1), rig.heard.append)
        rig.endpoint.list_offset(OffsetRequest("t", 0, 5, -2), rig.heard.append)
        request = rig.peers[0].answer(bound(offset=42))
        assert request.replica_id == 1
        assert request.topics[0].partitions[0].timestamp == -1
        rig.peers[0].answer(bound(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
        assert rig.heard[0] == 42
        assert rig.heard[1].code == ErrorCode.NOT_LEADER_OR_FOLLOWER

    run(scenario)


def bound(**values: Any) -> ListOffsetsResponse:
    partition = ListOffsetsPartitionResponse(partition_index=0, **values)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[partition])])
