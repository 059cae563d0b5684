"""One connection in detail: what leaves in pieces, what is not answered, what a node asks for."""

import asyncio
import itertools

import pytest

from ottla.client.cluster.cluster_client import ANY_NODE
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import Purpose
from ottla.client.errors import ConnectFailedError, KafkaTimeoutError
from ottla.client.metric.metric_name import MetricName
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ErrorCode,
    NetworkError,
    RequestTimedOutError,
    UnsupportedVersionError,
)
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from ottla.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from ottla.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from tests.integration.client.cluster import cluster_client
from tests.integration.client.fake_node import fake_node
from tests.kafka.port import free_port

LARGE = 24 << 20
"""More than a socket takes at once."""


def produce(*records: bytes | bytearray | memoryview, acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index=index, records=each) for index, each in enumerate(records)]
    return ProduceRequest(acks=acks, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=data)])


def heard(request: Request) -> Response | None:
    if isinstance(request, ProduceRequest):
        return ProduceResponse() if request.acks else None
    return HeartbeatResponse() if isinstance(request, HeartbeatRequest) else None


@pytest.mark.parametrize("size", [0, 100, LARGE])
def test_records_arrive_as_they_were(size: int) -> None:
    requests = [produce(memoryview(bytearray(b"a" * size)), b"b" * size), produce(bytearray(b"c" * size))]

    async def main() -> None:
        async with fake_node(heard) as node, cluster_client(node.address) as client:
            connection = await client.connection(1)
            node.is_reading.clear()
            node.frames.clear()
            answers = [connection.ask(request, timeout_ms=60_000) for request in requests]
            node.is_reading.set()
            for answer in answers:
                assert isinstance(await answer, ProduceResponse)
            version = connection.version_of(ApiKey.PRODUCE)
            for frame, request in zip(node.frames, requests, strict=True):
                sent = encode_request(request, version, correlation_id=0, client_id=client.client_id)
                # All but the correlation id, which lies behind size, key and version.
                assert (frame[:4], frame[8:]) == (sent[4:8], sent[12:])

    asyncio.run(main())


def test_large_answers_arrive_as_they_were() -> None:
    data = bytes(range(256)) * (LARGE // 256)

    def answer(request: Request) -> Response | None:
        if not isinstance(request, FetchRequest):
            return None
        size = request.max_bytes
        return FetchResponse(
            responses=[FetchableTopicResponse(topic="t", partitions=[PartitionData(records=data[:size])])]
        )

    async def main() -> None:
        async with fake_node(answer) as node, cluster_client(node.address) as client:
            for size in (1, 1_000, 70_000, 300_000, LARGE):
                response = await client.request(1, FetchRequest(max_bytes=size), version=12)
                assert isinstance(response, FetchResponse)
                assert response.responses[0].partitions[0].records == data[:size]

    asyncio.run(main())


def test_what_is_not_answered_ends_the_connection_and_the_next_one_works() -> None:
    async def main() -> None:
        async with fake_node() as node, cluster_client(node.address) as client:
            connection = await client.connection(1)
            late = connection.ask(HeartbeatRequest(group_id="g"), timeout_ms=50)
            beside = connection.ask(HeartbeatRequest(group_id="g"), timeout_ms=60_000)
            with pytest.raises(RequestTimedOutError, match="did not answer HEARTBEAT in time"):
                await late
            with pytest.raises(NetworkError):
                await beside
            assert not connection.is_open
            node.answer = heard
            assert isinstance(await client.request(1, HeartbeatRequest(group_id="g")), HeartbeatResponse)
            assert node.connection_count == 2

    asyncio.run(main())


def test_an_unanswered_produce_does_not_shift_the_answers() -> None:
    async def main() -> None:
        async with fake_node(heard) as node, cluster_client(node.address, client_id="me") as client:
            connection = await client.connection(1)
            connection.send_unanswered(produce(b"x", acks=0))
            await connection.ask(HeartbeatRequest(group_id="g"), timeout_ms=60_000)
            assert connection.in_flight_count == 0
            tags = (("client-id", "me"), ("node-id", "node-1"))
            values = client.metrics.values()
            assert values[MetricName("request-total", "producer-node-metrics", tags)] == 2
            assert values[MetricName("response-total", "producer-node-metrics", tags)] == 1

    asyncio.run(main())


def test_versions_are_agreed_on() -> None:
    async def main() -> None:
        async with fake_node(heard) as node, cluster_client(node.address) as client:
            connection = await client.connection(1)
            assert connection.version_of(ApiKey.HEARTBEAT) == 4
            assert not connection.serves(ApiKey.CREATE_TOPICS)
            with pytest.raises(UnsupportedVersionError, match="does not serve CREATE_TOPICS"):
                await client.request(1, CreateTopicsRequest())
            with pytest.raises(UnsupportedVersionError):
                await client.request(1, HeartbeatRequest(group_instance_id="static"), version=0)
            assert isinstance(await client.request(1, HeartbeatRequest(group_id="g")), HeartbeatResponse)

    asyncio.run(main())


def test_a_node_that_wants_a_pause_gets_one() -> None:
    pauses = [300, 0]

    def answer(request: Request) -> Response | None:
        return HeartbeatResponse(throttle_time_ms=pauses.pop(0)) if isinstance(request, HeartbeatRequest) else None

    async def main() -> None:
        async with fake_node(answer) as node, cluster_client(node.address) as client:
            await client.request(1, HeartbeatRequest(group_id="g"))
            connection = client.ready_connection(1)
            assert connection is not None
            until = asyncio.get_running_loop().time() + connection.throttled_ms / 1000
            assert 0 < connection.throttled_ms <= 300
            await client.request(1, HeartbeatRequest(group_id="g"))
            assert asyncio.get_running_loop().time() >= until

    asyncio.run(main())


def test_a_connection_that_is_retired_answers_what_is_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with fake_node(heard) as node, cluster_client(node.address) as client:
            before = await client.connection(1)
            waiting = before.ask(HeartbeatRequest(group_id="g"), timeout_ms=60_000)
            monkeypatch.setattr(NodeConnection, "has_to_retire", property(lambda connection: connection is before))
            after = await client.connection(1)
            assert after is not before
            assert isinstance(await waiting, HeartbeatResponse)
            assert not before.is_open
            assert isinstance(after, NodeConnection)
            assert after.is_open

    asyncio.run(main())


def test_a_broker_may_send_its_clients_back_to_the_beginning() -> None:
    async def main() -> None:
        async with fake_node() as node, cluster_client(node.address) as client:
            codes = [ErrorCode.REBOOTSTRAP_REQUIRED, ErrorCode.NONE]

            def answer(request: Request) -> Response | None:
                return node.metadata(error_code=codes.pop(0)) if isinstance(request, MetadataRequest) else None

            node.answer = answer
            assert (await client.refresh(timeout_ms=20_000)).brokers
            assert node.connection_count == 2
            assert not codes

    asyncio.run(main())


def test_callers_that_give_up_do_not_disturb_the_others() -> None:
    async def main() -> None:
        async with fake_node(heard) as node, cluster_client(node.address) as client:
            abandoned = asyncio.create_task(client.request(1, HeartbeatRequest(group_id="g")))
            await asyncio.sleep(0)
            abandoned.cancel()
            with pytest.raises(asyncio.CancelledError):
                await abandoned
            assert isinstance(await client.request(1, HeartbeatRequest(group_id="g")), HeartbeatResponse)
            assert node.connection_count == 1

    asyncio.run(main())


def test_a_coordinator_is_asked_after_a_rebootstrap_before_metadata_came() -> None:
    """The view still has the broker, but the pool began anew."""
    asked_for_metadata = itertools.count()

    def answer(request: Request) -> Response | None:
        match request:
            case MetadataRequest() if number := next(asked_for_metadata):
                code = ErrorCode.REBOOTSTRAP_REQUIRED if number == 1 else ErrorCode.UNKNOWN_SERVER_ERROR
                return MetadataResponse(error_code=code)
            case FindCoordinatorRequest():
                found = Coordinator(key="g", node_id=1, host="127.0.0.1", port=ports[0])
                return FindCoordinatorResponse(coordinators=[found])
            case HeartbeatRequest():
                return HeartbeatResponse()
        return None

    async def main() -> None:
        async with fake_node(answer) as node:
            ports.append(node.port)
            async with cluster_client(node.address) as client:
                with pytest.raises(KafkaTimeoutError):
                    await client.refresh(timeout_ms=300)
                coordinator = await client.coordinator(CoordinatorKind.GROUP, "g")
                await client.request(coordinator, HeartbeatRequest(), purpose=Purpose.COORDINATOR)

    ports: list[int] = []
    asyncio.run(main())


def test_a_broker_that_a_rebootstrap_forgot_is_named_with_what_was_wrong() -> None:
    """Until Metadata is answered again, the pool knows no broker; callers still want to know why it began anew."""
    advertised = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=free_port())

    def answer(request: Request) -> Response | None:
        return MetadataResponse(brokers=[advertised]) if isinstance(request, MetadataRequest) else None

    async def main() -> None:
        async with fake_node(answer) as node, cluster_client(node.address) as client:
            refused = f"127.0.0.1:{advertised.port} \\(broker 1\\): connection refused.*advertised.listeners"
            with pytest.raises(ConnectFailedError, match=refused):
                await client.connection(1)
            node.is_reading.clear()
            asked = asyncio.create_task(client.refresh(timeout_ms=20_000))
            async with asyncio.timeout(20):
                while node.connection_count < 2:
                    await asyncio.sleep(0.001)
            with pytest.raises(NetworkError, match=refused):
                await client.connection(1)
            node.is_reading.set()
            await asked

    asyncio.run(main())


def test_callers_that_hear_together_that_no_broker_is_there_go_back_together() -> None:
    advertised = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=free_port())

    def answer(request: Request) -> Response | None:
        return MetadataResponse(brokers=[advertised]) if isinstance(request, MetadataRequest) else None

    async def main() -> None:
        async with fake_node(answer) as node, cluster_client(node.address) as client:
            asked = [client.connection(ANY_NODE) for _ in range(3)]
            assert len(set(await asyncio.gather(*asked))) == 1
            assert node.connection_count == 2

    asyncio.run(main())


def test_an_address_that_nobody_can_reach_is_left_alone_for_longer_each_time() -> None:
    """Also while the cluster names it again and again: with each rebootstrap the pool begins anew."""
    advertised = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=free_port())

    def answer(request: Request) -> Response | None:
        return MetadataResponse(brokers=[advertised]) if isinstance(request, MetadataRequest) else None

    async def main() -> None:
        pauses = {"reconnect_backoff_ms": 60_000, "reconnect_backoff_max_ms": 600_000}
        async with fake_node(answer) as node, cluster_client(node.address, **pauses) as client:
            with pytest.raises(ConnectFailedError, match="connection refused"):
                await client.request(1, HeartbeatRequest())
            for connections in (2, 3):
                await client.refresh(timeout_ms=20_000)
                assert node.connection_count == connections
            with pytest.raises(KafkaTimeoutError):
                await client.request(1, HeartbeatRequest(), timeout_ms=100)

    asyncio.run(main())
