"""A client against a listener with real requests: versions, pipelining, time-outs, reconnects."""

import gc
import os
import queue
import socket
from collections.abc import Iterator

import pytest

from ottla.base.errors import OttlaError
from ottla.net.client_connection import ClientConnection
from ottla.net.node_client import NodeClient, NodeClientOptions
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    DecodeError,
    EncodeError,
    NetworkError,
    RequestTimedOutError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.fetch import FetchRequest, FetchResponse
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.metadata import MetadataRequest
from ottla.protocol.messages.vote import VoteRequest
from tests.integration.net.node import Node
from tests.integration.net.served import PATIENCE_S, LoopThread, Served

QUICK = NodeClientOptions(reconnect_backoff_ms=10, reconnect_backoff_max_ms=50)


class Client:
    """A `NodeClient` on a loop of its own; answers come through queues."""

    def __init__(self, thread: LoopThread, address: tuple[str, int], options: NodeClientOptions = QUICK) -> None:
        self.thread = thread
        self.node = thread.call(lambda: NodeClient(thread.loop, *address, "tester", options))

    def send(
        self, request: Request, *, timeout_ms: int = 20_000, version: int | None = None
    ) -> "queue.Queue[Response | Exception]":
        """Sends; the answer comes into the queue that is returned."""
        answers: queue.Queue[Response | Exception] = queue.Queue()
        self.thread.call(lambda: self.node.send(request, answers.put, timeout_ms=timeout_ms, version=version))
        return answers

    def ask(self, request: Request, *, timeout_ms: int = 20_000, version: int | None = None) -> Response | Exception:
        """Sends and waits."""
        return self.send(request, timeout_ms=timeout_ms, version=version).get(timeout=PATIENCE_S)


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def served(node: Node) -> Iterator[Served]:
    with Served(node) as served:
        yield served


@pytest.fixture
def client(thread: LoopThread, served: Served) -> Iterator[Client]:
    client = Client(thread, served.listener.address)
    yield client
    thread.call(client.node.close)
    thread.call(lambda: None)  # what is in flight fails before the loop ends


def test_the_highest_common_version_is_spoken(client: Client, node: Node) -> None:
    response = client.ask(HeartbeatRequest(group_id="g"))
    assert response == HeartbeatResponse(throttle_time_ms=2)  # the node's highest, which the test node echoes
    assert [header.request_api_version for header in node.headers] == [4, 2]
    assert [header.client_id for header in node.headers] == ["tester", "tester"]


def test_a_version_can_be_asked_for(client: Client) -> None:
    assert client.ask(HeartbeatRequest(group_id="g"), version=1) == HeartbeatResponse(throttle_time_ms=1)


@pytest.mark.parametrize(
    ("node", "versions_asked"),
    [
        (Node(api_versions_max=3), [4, 3]),
        (Node(api_versions_max=0), [4, 0]),
        (Node(api_versions_max=2, is_before_kip_511=True), [4, 0]),
    ],
    ids=["v3", "v0", "before KIP-511"],
)
def test_older_nodes_are_asked_again_in_their_words(node: Node, versions_asked: list[int], client: Client) -> None:
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)
    asked = [header.request_api_version for header in node.headers if header.request_api_key == ApiKey.API_VERSIONS]
    assert asked == versions_asked


def test_what_the_node_does_not_serve_is_refused_here(client: Client) -> None:
    for request in (VoteRequest(), MetadataRequest()):  # not at all; in no version that we know
        error = client.ask(request)
        assert isinstance(error, UnsupportedVersionError)
        assert request.api.name in str(error)
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)


def test_a_request_that_cannot_be_encoded_fails_alone(client: Client) -> None:
    assert isinstance(client.ask(HeartbeatRequest(group_id="g", generation_id=2**40)), EncodeError)
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)


def test_requests_are_pipelined_and_one_connection_serves_them(client: Client, node: Node, served: Served) -> None:
    answers = [client.send(HeartbeatRequest(group_id="late")) for _ in range(20)]
    exchanges = [node.next_request()[1] for _ in answers]
    for exchange in exchanges:
        served.call(lambda exchange=exchange: node.answer_late(exchange))
    for answer in answers:
        assert isinstance(answer.get(timeout=PATIENCE_S), HeartbeatResponse)
    assert node.connections.qsize() == 1


def test_an_answer_of_ten_megabytes_owns_its_records(client: Client, node: Node) -> None:
    node.records = os.urandom(10_000_000)
    first = client.ask(FetchRequest(), version=12)
    second = client.ask(FetchRequest(), version=12)
    for response in (first, second):
        assert isinstance(response, FetchResponse)
        records = response.responses[0].partitions[0].records
        assert isinstance(records, memoryview)
        assert records == node.records


def test_answers_of_many_sizes_come_whole(client: Client, node: Node) -> None:
    responses = []
    contents = [os.urandom(size) for size in (0, 1, 1_000, 16_000, 65_400, 65_536, 70_000, 262_144, 1_000_000, 5)]
    for content in contents:
        node.records = content
        responses.append(client.ask(FetchRequest(), version=12))
    kept = [
        response.responses[0].partitions[0].records for response in responses if isinstance(response, FetchResponse)
    ]
    assert [bytes(records or b"") for records in kept] == contents


def test_what_is_in_flight_fails_with_the_connection_and_the_next_one_connects_again(
    client: Client, node: Node
) -> None:
    late = client.send(HeartbeatRequest(group_id="late"))
    leave = client.send(HeartbeatRequest(group_id="leave"))
    assert isinstance(late.get(timeout=PATIENCE_S), NetworkError)
    assert isinstance(leave.get(timeout=PATIENCE_S), NetworkError)
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)
    assert node.connections.qsize() == 2


def test_an_answer_that_makes_no_sense_fails_its_request_alone(client: Client, node: Node) -> None:
    assert isinstance(client.ask(HeartbeatRequest(group_id="bad")), DecodeError)
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)
    assert node.connections.qsize() == 1


@pytest.mark.parametrize("group", ["confused", "endless"])
def test_a_node_that_loses_the_thread_is_connected_to_anew(group: str, node: Node, thread: LoopThread) -> None:
    options = NodeClientOptions(reconnect_backoff_ms=10, reconnect_backoff_max_ms=50, response_bytes_max=1_000_000)
    with Served(node) as served:
        client = Client(thread, served.listener.address, options)
        late = client.send(HeartbeatRequest(group_id=group))
        assert isinstance(late.get(timeout=PATIENCE_S), OttlaError)
        assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)
        assert node.connections.qsize() == 2
        thread.call(client.node.close)


def test_a_request_that_is_not_answered_in_time_ends_the_connection(client: Client, node: Node) -> None:
    patient = client.send(HeartbeatRequest(group_id="late"))
    hasty = client.send(HeartbeatRequest(group_id="late"), timeout_ms=100)
    assert isinstance(hasty.get(timeout=PATIENCE_S), RequestTimedOutError)
    assert isinstance(patient.get(timeout=PATIENCE_S), NetworkError)
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)


def test_a_node_that_is_not_there_fails_what_waits_and_is_tried_again(thread: LoopThread, node: Node) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = reserved.getsockname()
    client = Client(thread, address)
    answers = [client.send(HeartbeatRequest(group_id="g")) for _ in range(3)]
    for answer in answers:
        error = answer.get(timeout=PATIENCE_S)
        assert isinstance(error, NetworkError)
        assert f"{address[0]}:{address[1]}" in str(error)
    waiting = client.send(HeartbeatRequest(group_id="g"))  # during the backoff
    assert isinstance(waiting.get(timeout=PATIENCE_S), NetworkError)
    thread.call(client.node.close)


def test_a_name_that_nobody_knows_is_a_network_error(thread: LoopThread) -> None:
    for host in ("no.such.host.invalid", "a..b", "x" * 300):
        client = Client(thread, (host, 9092))
        assert isinstance(client.ask(HeartbeatRequest(group_id="g")), NetworkError)
        thread.call(client.node.close)


def test_a_node_that_accepts_and_says_nothing_is_given_up(thread: LoopThread) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        client = Client(thread, silent.getsockname(), NodeClientOptions(setup_timeout_ms=100))
        error = client.ask(HeartbeatRequest(group_id="g"))
        assert isinstance(error, NetworkError)
        assert "within 100 ms" in str(error)
        short = client.send(HeartbeatRequest(group_id="g"), timeout_ms=20)
        assert isinstance(short.get(timeout=PATIENCE_S), RequestTimedOutError)
        thread.call(client.node.close)


def test_a_node_that_hangs_up_at_once_is_a_network_error(thread: LoopThread) -> None:
    with socket.socket() as rude:
        rude.bind(("127.0.0.1", 0))
        rude.listen()
        client = Client(thread, rude.getsockname())
        answer = client.send(HeartbeatRequest(group_id="g"))
        accepted, _ = rude.accept()
        accepted.close()
        assert isinstance(answer.get(timeout=PATIENCE_S), NetworkError)
        thread.call(client.node.close)


def test_closing_fails_what_is_in_flight_and_what_comes(client: Client, node: Node, served: Served) -> None:
    in_flight = client.send(HeartbeatRequest(group_id="late"))
    _, exchange = node.next_request()
    client.thread.call(client.node.close)
    assert isinstance(in_flight.get(timeout=PATIENCE_S), NetworkError)
    assert isinstance(client.ask(HeartbeatRequest(group_id="g")), NetworkError)
    served.call(exchange.no_answer)
    node.next_disconnected()


def test_closing_while_connecting_fails_what_waits(thread: LoopThread) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        client = Client(thread, silent.getsockname())
        answer = client.send(HeartbeatRequest(group_id="g"))
        accepted, _ = silent.accept()
        thread.call(client.node.close)
        assert isinstance(answer.get(timeout=PATIENCE_S), NetworkError)
        accepted.settimeout(PATIENCE_S)
        while accepted.recv(1_000):  # what it asked before it left
            pass
        accepted.close()


def test_a_lost_connection_leaves_nothing_to_the_garbage_collector(client: Client, node: Node) -> None:
    def connections() -> int:
        return sum(isinstance(found, ClientConnection) for found in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)
            assert isinstance(client.ask(HeartbeatRequest(group_id="leave")), NetworkError)
        assert isinstance(client.ask(HeartbeatRequest(group_id="g")), HeartbeatResponse)
        assert connections() == 1
    finally:
        gc.enable()


def test_a_connection_that_could_not_be_made_leaves_nothing_to_it_either(thread: LoopThread) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        client = Client(thread, reserved.getsockname())
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                assert isinstance(client.ask(HeartbeatRequest(group_id="g")), NetworkError)
            assert not any(isinstance(found, ClientConnection) for found in gc.get_objects())
        finally:
            gc.enable()
        thread.call(client.node.close)
