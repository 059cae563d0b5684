"""A broker without sockets, disks or an event loop: the real pipeline and handlers over a controller in memory.

Requests go in as bytes and answers come out of bytes, so that a test sees what a client would see.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from ottla.base.metric import MetricRegistry
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.request.api_table import BROKER_SERVED
from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
from ottla.broker.request.metadata.auto_topic import AutoTopicCreator
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.request.pipeline import Pipeline
from ottla.broker.request.refusal import refuse
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.telemetry.client_metrics import ClientMetrics
from ottla.metadata.controller.context import Caller, ControllerPorts
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError
from ottla.protocol.frame import decode_response, encode_request
from tests.unit.metadata.cluster import CLUSTER_ID, Cluster

CLOSED = "closed"
NODE_ID = 1


class HandClock:
    """A clock whose hands a test turns."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def now_ms(self) -> int:
        return self.ms

    def monotonic_ms(self) -> int:
        return self.ms


class SetUp:
    """How far partitions are set up: all of them, until a test says otherwise."""

    def __init__(self) -> None:
        self.applied_offset = 2**62
        self.waiting: list[Callable[[], None]] = []
        self.timers: list[Callable[[], None]] = []

    def get(self, topic: str, index: int) -> None:
        """None is set up; nobody asks while all of them are."""

    def when_applied(self, offset: int, callback: Callable[[], None]) -> None:
        self.waiting.append(callback)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        self.timers.append(callback)


@dataclass
class StillConnection:
    """A connection that carries nothing: what handlers may ask one."""

    listener: str = "PLAINTEXT"
    local: tuple[str, int] = ("127.0.0.1", 9093)
    peer: tuple[str, int] = ("10.0.0.7", 50_000)
    id: str = "127.0.0.1:9093-10.0.0.7:50000-0"
    session: object | None = None
    is_open: bool = True
    closed_for: str | None = None
    principal: str = "User:ANONYMOUS"
    principal_is_token: bool = False

    def close(self, reason: str) -> None:
        self.is_open = False
        self.closed_for = reason


@dataclass
class KeptExchange:
    """An exchange that keeps its answer."""

    connection: StillConnection
    frame: bytes | None = None

    @property
    def is_done(self) -> bool:
        return self.frame is not None or not self.connection.is_open

    def answer(self, pieces: Any) -> None:
        assert self.frame is None, "answered twice"
        self.frame = b"".join(bytes(piece) for piece in pieces)

    def close(self, reason: str) -> None:
        self.connection.close(reason)


@dataclass
class DirectChannel:
    """The way to the controller in memory, which answers at once; or never, while `is_cut`."""

    cluster: Cluster
    is_cut: bool = False
    sent: list[Request] = field(default_factory=list)
    forwarded: list[Request] = field(default_factory=list)

    def send(self, request: Request, done: Any, *, timeout_ms: int) -> None:
        self.sent.append(request)
        if not self.is_cut:
            done(self._ask(request, Caller(api_version=7)))

    def forward(self, context: RequestContext, request: Request) -> None:
        self.forwarded.append(request)
        answer = self._ask(request, Caller(api_version=context.version, principal=context.principal))
        if isinstance(answer, ApiError):
            answer = refuse(request, context.version, answer)
        context.answer(answer)

    def _ask(self, request: Request, caller: Caller) -> Response | ApiError:
        try:
            answer: Response = self.cluster.ask(request, caller)
        except ApiError as error:
            return error
        return answer


class SmallBroker:
    """Broker 1 of a cluster whose brokers are registered and unfenced."""

    def __init__(self, *, brokers: int = 1, follow_dialled_address: bool = False, **settings: str) -> None:
        self.cluster = Cluster()
        self.clock = HandClock()
        self.connection = StillConnection()
        self.channel = DirectChannel(self.cluster)
        config = ServerConfig(
            {
                "process.roles": "broker",
                "node.id": str(NODE_ID),
                "listeners": "PLAINTEXT://127.0.0.1:9093",
                "controller.listener.names": "CONTROLLER",
                "controller.quorum.bootstrap.servers": "127.0.0.1:9999",
                **{name.replace("_", "."): value for name, value in settings.items()},
            }
        )
        schema = BrokerConfigSchema(config)
        self._give_controller(schema)
        dynamic = DynamicConfig(config, None, schema)
        self.metadata = MetadataCache(NODE_ID, follow_dialled_address=follow_dialled_address, choose=min)
        self.client_metrics = ClientMetrics(self.clock, dynamic)
        self.setup = SetUp()
        self.parts = SimpleNamespace(
            node_id=NODE_ID,
            cluster_id=CLUSTER_ID,
            config=config,
            clock=self.clock,
            metadata=self.metadata,
            controller=self.channel,
            dynamic=dynamic,
            schema=schema,
            auto_topics=AutoTopicCreator(self.channel, dynamic, self.clock),
            client_metrics=self.client_metrics,
            replicas=self.setup,
            loop=SimpleNamespace(call_later=self.setup.call_later),
            api_versions=ApiVersionsAnswer(BROKER_SERVED),
            kraft_version=lambda: 1,
        )
        self.pipeline = Pipeline(self.parts, BROKER_SERVED, MetricRegistry(), lambda: 0.0)
        for listener in (self.metadata, dynamic, self.client_metrics):
            self.cluster.loader.add_listener(listener)
        self.cluster.start(*range(1, brokers + 1))

    def _give_controller(self, schema: BrokerConfigSchema) -> None:
        ports = self.cluster.ports
        self.cluster.controller._ports = ControllerPorts(schema, ports.chance, ports.quorum)

    def ask(self, request: Request, version: int, connection: StillConnection | None = None) -> Any:
        """The answer, or `CLOSED`."""
        return self.answer(self.send(request, version, connection), request, version)

    def send(self, request: Request, version: int, connection: StillConnection | None = None) -> "KeptExchange":
        """Sends a request that may be answered later."""
        exchange = KeptExchange(connection or self.connection)
        frame = encode_request(request, version, correlation_id=77, client_id="app-1")
        self.pipeline.received(memoryview(bytearray(frame[4:])), exchange)
        return exchange

    def answer(self, exchange: "KeptExchange", request: Request, version: int) -> Any:
        """What came back, or `CLOSED`."""
        if exchange.frame is None:
            assert exchange.connection.closed_for is not None, "neither answered nor closed"
            exchange.connection.is_open, exchange.connection.closed_for = True, None
            return CLOSED
        assert int.from_bytes(exchange.frame[:4], "big") == len(exchange.frame) - 4
        correlation_id, response = decode_response(exchange.frame[4:], request.api, version)
        assert correlation_id == 77
        return response
