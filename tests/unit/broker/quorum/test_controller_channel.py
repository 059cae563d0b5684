"""The way to the controller: straight or across the network, again and again until the time is up."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ottla.broker.quorum.controller_channel import ControllerChannel
from ottla.broker.request.forwarded_request import ForwardedContext
from ottla.broker.request.request_context import RequestContext
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    NetworkError,
    NotControllerError,
    RequestTimedOutError,
    UnsupportedVersionError,
)
from ottla.protocol.frame import decode_request, encode_response
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.raft.identity import Node
from tests.unit.broker.adapters.test_leader_endpoint import HandPeer
from tests.unit.broker.small_broker import StillConnection

HEARTBEAT = BrokerHeartbeatRequest(broker_id=1)
CREATION = CreateTopicsRequest(topics=[CreatableTopic(name="orders", num_partitions=1, replication_factor=1)])
CREATED = CreateTopicsResponse(topics=[CreatableTopicResult(name="orders", num_partitions=1, replication_factor=1)])


class HandController:
    """The controller of this process, whose answers a test gives."""

    def __init__(self) -> None:
        self.is_active = False
        self.submitted: list[tuple[Request, Caller, Answer]] = []
        self.dispatched: list[tuple[ForwardedContext, Request]] = []

    def submit(self, request: Request, caller: Caller) -> Answer:
        answer = Answer()
        self.submitted.append((request, caller, answer))
        return answer

    def route(self, api: ApiKey, version: int) -> Any:
        return StillRoute(api, version)

    def dispatch(self, context: ForwardedContext, request: Request) -> None:
        self.dispatched.append((context, request))


class StillRoute:
    """As much of a route as contexts ask for."""

    def __init__(self, api: ApiKey, version: int) -> None:
        self.api = api
        self.version = version
        self.is_controller = False


class StillExchange:
    """An exchange that carries nothing."""

    def __init__(self) -> None:
        self.connection = StillConnection()
        self.is_done = False


class Client(RequestContext):
    """A client of this broker, and what it heard."""

    __slots__ = ("answers", "closed_for")

    def __init__(self, version: int = 7) -> None:
        route: Any = StillRoute(ApiKey.CREATE_TOPICS, version)
        exchange: Any = StillExchange()
        super().__init__(route, 4711, "client-7", exchange)
        self.answers: list[Response] = []
        self.closed_for: str | None = None

    @property
    def principal(self) -> str:
        return "User:ann"

    def answer(self, response: Response) -> None:
        self.answers.append(response)

    def close(self, reason: str) -> None:
        self.closed_for = reason


class Rig:
    def __init__(self) -> None:
        self.leader: Node | None = None
        self.local = HandController()
        self.peers: list[HandPeer] = []
        self.channel = ControllerChannel(1, lambda: self.leader, self._connect, local=self.local)
        self.heard: list[Response | ApiError] = []

    def _connect(self, node: Node) -> HandPeer:
        self.peers.append(HandPeer(node))
        return self.peers[-1]

    def send(self, timeout_ms: int = 20_000) -> None:
        self.channel.send(HEARTBEAT, self.heard.append, timeout_ms=timeout_ms)

    async def elect(self, node: Node | None) -> None:
        """The quorum has another leader, and says so."""
        self.leader = node
        self.local.is_active = node is not None and node.id == 1
        self.channel.controller_changed()
        await asyncio.sleep(0)


def run(scenario: Callable[[Rig], Awaitable[None]]) -> None:
    async def start() -> None:
        rig = Rig()
        await scenario(rig)
        rig.channel.close()

    asyncio.run(start())


def remote(node_id: int = 2) -> Node:
    return Node(node_id, f"h{node_id}", 9093)


def test_the_controller_of_this_process_is_asked_straight() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote(1))
        rig.send()
        [(request, caller, answer)] = rig.local.submitted
        assert (request, caller.api_version) == (HEARTBEAT, 2)
        assert rig.heard == []
        answer.give(BrokerHeartbeatResponse(is_fenced=False))
        assert rig.heard == [BrokerHeartbeatResponse(is_fenced=False)]
        assert rig.peers == []
        assert rig.channel.active_controller_id == 1

    run(scenario)


def test_a_controller_elsewhere_is_asked_across_the_network() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        rig.send()
        assert rig.peers[0].answer(BrokerHeartbeatResponse(is_fenced=False)) == HEARTBEAT
        assert rig.heard == [BrokerHeartbeatResponse(is_fenced=False)]

    run(scenario)


def test_an_error_of_the_whole_answer_comes_as_that_error() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        rig.send()
        rig.peers[0].answer(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        [error] = rig.heard
        assert isinstance(error, ApiError)
        assert error.code == ErrorCode.STALE_BROKER_EPOCH

    run(scenario)


def test_who_asks_while_nobody_leads_is_answered_once_somebody_does() -> None:
    async def scenario(rig: Rig) -> None:
        rig.send()
        assert rig.channel.active_controller_id is None
        await rig.elect(remote(1))
        rig.local.submitted[0][2].give(BrokerHeartbeatResponse())
        assert len(rig.heard) == 1

    run(scenario)


def test_a_controller_that_is_it_no_more_is_not_the_end() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        rig.send()
        await rig.elect(remote(3))
        rig.peers[0].answer(BrokerHeartbeatResponse(error_code=ErrorCode.NOT_CONTROLLER))
        await rig.elect(remote(3))
        assert rig.peers[0].is_closed
        rig.peers[1].answer(NetworkError())
        await rig.elect(remote(1))
        rig.local.submitted[0][2].refuse(NotControllerError())
        await rig.elect(remote())
        rig.peers[2].answer(BrokerHeartbeatResponse(is_fenced=False))
        assert rig.heard == [BrokerHeartbeatResponse(is_fenced=False)]

    run(scenario)


def test_a_controller_that_is_gone_without_a_word_keeps_nothing() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        rig.send()
        await rig.elect(remote(3))
        assert rig.peers[0].is_closed
        rig.peers[0].answer(NetworkError())
        await rig.elect(remote(3))
        rig.peers[1].answer(BrokerHeartbeatResponse(is_fenced=False))
        assert rig.heard == [BrokerHeartbeatResponse(is_fenced=False)]

    run(scenario)


def test_what_finds_no_controller_is_told_that_its_time_is_up() -> None:
    async def scenario(rig: Rig) -> None:
        rig.send(timeout_ms=1)
        while not rig.heard:
            await asyncio.sleep(0.001)
        assert isinstance(rig.heard[0], RequestTimedOutError)
        await rig.elect(remote(1))
        assert rig.local.submitted == []

    run(scenario)


def test_an_answer_that_comes_too_late_is_not_heard() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote(1))
        rig.send(timeout_ms=1)
        while not rig.heard:
            await asyncio.sleep(0.001)
        rig.local.submitted[0][2].give(BrokerHeartbeatResponse())
        assert len(rig.heard) == 1

    run(scenario)


def test_a_time_out_of_the_operation_itself_is_an_answer() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote(1))
        rig.send()
        rig.local.submitted[0][2].refuse(RequestTimedOutError())
        assert isinstance(rig.heard[0], RequestTimedOutError)

    run(scenario)


def test_a_controller_that_does_not_know_the_call_is_not_asked_again() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        rig.send()
        rig.peers[0].answer(UnsupportedVersionError("no common version"))
        [error] = rig.heard
        assert isinstance(error, ApiError)
        assert error.code == ErrorCode.UNKNOWN_SERVER_ERROR

    run(scenario)


def test_a_node_that_stops_keeps_nobody_waiting() -> None:
    async def scenario(rig: Rig) -> None:
        rig.send()
        rig.channel.close()
        assert isinstance(rig.heard[0], NotControllerError)

    run(scenario)


def test_a_clients_request_is_served_here_in_the_clients_name() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote(1))
        client = Client()
        rig.channel.forward(client, CREATION)
        [(context, request)] = rig.local.dispatched
        assert request == CREATION
        assert (context.principal, context.client_id, context.client_host) == ("User:ann", "client-7", "10.0.0.7")
        assert (context.api, context.version, context.correlation_id) == (ApiKey.CREATE_TOPICS, 7, 4711)
        context.answer(CREATED)
        assert client.answers == [CREATED]

    run(scenario)


def test_a_clients_request_waits_out_a_failover() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote(1))
        client = Client()
        rig.channel.forward(client, CREATION)
        rig.local.dispatched[0][0].refuse(NotControllerError())
        assert client.answers == []
        await rig.elect(remote())
        sent = rig.peers[0].sent[0][0]
        assert isinstance(sent, EnvelopeRequest)

    run(scenario)


def test_an_envelope_holds_the_request_and_its_answer() -> None:
    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        client = Client()
        rig.channel.forward(client, CREATION)
        frame = encode_response(CREATED, 7, correlation_id=4711)[4:]
        sent: Any = rig.peers[0].answer(EnvelopeResponse(response_data=frame))
        header, request = decode_request(sent.request_data)
        assert (header.correlation_id, header.client_id, header.request_api_version) == (4711, "client-7", 7)
        assert request == CREATION
        assert sent.client_host_address == bytes([10, 0, 0, 7])
        assert client.answers == [CREATED]

    run(scenario)


def test_a_client_is_told_of_a_change_once_it_can_be_seen_here() -> None:
    async def scenario(rig: Rig) -> None:
        level: list[Callable[[], None]] = []
        rig.channel.when_level = level.append
        await rig.elect(remote())
        client = Client()
        rig.channel.forward(client, CREATION)
        rig.peers[0].answer(EnvelopeResponse(response_data=encode_response(CREATED, 7, correlation_id=4711)[4:]))
        assert client.answers == []
        level[0]()
        assert client.answers == [CREATED]

    run(scenario)


def test_a_broker_that_lags_behind_passes_an_answer_on_all_the_same() -> None:
    async def scenario(rig: Rig) -> None:
        level: list[Callable[[], None]] = []
        rig.channel.when_level = level.append
        await rig.elect(remote())
        client = Client()
        rig.channel.forward(client, CREATION)
        rig.peers[0].answer(EnvelopeResponse(response_data=encode_response(CREATED, 7, correlation_id=4711)[4:]))
        while not client.answers:
            await asyncio.sleep(0.01)
        level[0]()
        assert client.answers == [CREATED]

    run(scenario)


def test_what_the_broker_itself_asked_for_does_not_wait_for_its_image() -> None:
    async def scenario(rig: Rig) -> None:
        rig.channel.when_level = lambda call: None
        await rig.elect(remote())
        rig.send()
        rig.peers[0].answer(BrokerHeartbeatResponse(is_fenced=False))
        assert rig.heard == [BrokerHeartbeatResponse(is_fenced=False)]

    run(scenario)


def refused(error: ErrorCode) -> Client:
    """A client whose envelope came back with an error."""
    client = Client()

    async def scenario(rig: Rig) -> None:
        await rig.elect(remote())
        rig.channel.forward(client, CREATION)
        rig.peers[0].answer(EnvelopeResponse(error_code=error))

    run(scenario)
    return client


def test_a_client_does_not_hear_of_what_is_wrong_with_envelopes() -> None:
    [answer] = refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED).answers
    assert isinstance(answer, CreateTopicsResponse)
    assert answer.topics[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_controller_that_is_older_than_the_client_believes_costs_the_connection() -> None:
    client = refused(ErrorCode.UNSUPPORTED_VERSION)
    assert client.answers == []
    assert client.closed_for is not None
