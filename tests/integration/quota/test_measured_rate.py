"""What greedy clients get under each form of a quota, on ours and on Apache Kafka: users, client ids, both, defaults.

Each form has a client to which no other applies. Apache Kafka is measured for comparison. Rates are of values, a few
percent below what the broker counts.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import confluent_kafka
import pytest

import kafka
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from tests.clients.server import APACHE, OTTLA
from tests.clients.topic import create
from tests.integration.quota.greedy import (
    JavaConsumer,
    JavaProducer,
    KafkaPythonConsumer,
    KafkaPythonProducer,
    LibrdkafkaConsumer,
    LibrdkafkaProducer,
    Load,
    shown,
)
from tests.integration.quota.limited_server import WINDOW_S, LimitedServer
from tests.kafka.peer import require_kafka
from tests.kafka.wire import Wire

TOLERANCE = 0.15
FOR_COMPARISON = 0.75
"""Of Apache Kafka, whose consumers come in bursts and got 0.39 to 0.59 of their quotas here."""
MEASURED_S = 10.0
FILLED_BYTES = 12_000_000

Form = tuple[tuple[str, ...], float, type[Load], type[Load], str, str]
"""An entity, its quota, who produces and who fetches, as which user and client id."""
USERS, CLIENTS = ("--entity-type", "users"), ("--entity-type", "clients")
DEFAULT = "--entity-default"
SPECIFIC: dict[str, Form] = {
    "user and client": (
        (*USERS, "--entity-name", "alice", *CLIENTS, "--entity-name", "app"),
        300_000, LibrdkafkaProducer, LibrdkafkaConsumer, "alice", "app",
    ),
    "user": (
        (*USERS, "--entity-name", "alice"), 400_000, KafkaPythonProducer, KafkaPythonConsumer, "alice", "other",
    ),
    "any user": ((*USERS, DEFAULT), 500_000, JavaProducer, JavaConsumer, "bob", "tool"),
}  # fmt: skip
GENERAL: dict[str, Form] = {
    "client": ((*CLIENTS, "--entity-name", "app"), 300_000, KafkaPythonProducer, KafkaPythonConsumer, "alice", "app"),
    "any client": ((*CLIENTS, DEFAULT), 400_000, LibrdkafkaProducer, LibrdkafkaConsumer, "bob", "other"),
}
PRODUCE, FETCH = "producer_byte_rate", "consumer_byte_rate"


@pytest.fixture(scope="module", params=[OTTLA, APACHE])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LimitedServer]:
    require_kafka()
    found = LimitedServer(request.param, tmp_path_factory.mktemp(request.param))
    create(found.server, "full")
    with Wire(found.server.address) as wire:
        fill(wire)
    yield found
    found.server.stop()


def fill(wire: Wire) -> None:
    """A topic with enough to read for all."""
    host, port = wire.socket.getpeername()
    # A fetch gets whole batches: with small ones it can follow a quota.
    settings = {"bootstrap.servers": f"{host}:{port}", "client.id": "filler", "batch.size": 16_384}
    producer = confluent_kafka.Producer(settings)
    for _ in range(FILLED_BYTES // 1_000):
        producer.produce("full", bytes(1_000))
        producer.poll(0)
    assert producer.flush(60) == 0


@pytest.mark.long
@pytest.mark.parametrize("forms", [SPECIFIC, GENERAL], ids=["specific", "general"])
@pytest.mark.parametrize("kind", [PRODUCE, FETCH])
def test_byte_rates(server: LimitedServer, forms: dict[str, Form], kind: str) -> None:
    for entity, limit, *_ in forms.values():
        server.limit(*entity, **{kind: limit})
    try:
        found = measured(server, forms, kind)
    finally:
        for entity, *_ in forms.values():
            server.free(*entity, names=kind)
    print(f"\n{server.server.name}, {kind}\n{shown(found)}")
    for form, (load, limit, got) in found.items():
        assert load.throttle_ms > 0, form
        assert got == pytest.approx(limit, rel=TOLERANCE if server.is_ours else FOR_COMPARISON), form


def measured(server: LimitedServer, forms: dict[str, Form], kind: str) -> dict[str, tuple[Load, float, float]]:
    """All clients at once; what each of them got."""
    loads = {}
    for form, (_, limit, producer, consumer, user, client_id) in forms.items():
        topic = "full" if kind == FETCH else "empty"
        load = (producer if kind == PRODUCE else consumer)(server, user, client_id, topic)
        load.limit = limit  # type: ignore[attr-defined]
        loads[form] = load
    with ExitStack() as stack:
        for load in loads.values():
            stack.enter_context(load)
        # What is free at first is used up, and what was asked for before it was known to be.
        time.sleep(2 * WINDOW_S)
        found: dict[str, float] = {}
        threads = [
            threading.Thread(target=lambda form=form, load=load: found.update({form: load.rate(MEASURED_S)}))
            for form, load in loads.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if server.is_ours:
            look_at_metrics(server, forms, kind)
    return {form: (load, forms[form][1], found[form]) for form, load in loads.items()}


def look_at_metrics(server: LimitedServer, forms: dict[str, Form], kind: str) -> None:
    """Kafka's names, by those who share a quota."""
    name = "kafka_server_" + ("produce" if kind == PRODUCE else "fetch")
    for form, (entity, *_, user, client_id) in forms.items():
        by_user, by_client = "users" in entity, "clients" in entity
        share = (user if by_user else "", client_id if by_client else "")
        if form != "any user":  # whose tool has ended
            assert server.metric(f"{name}_byte_rate", *share) > 0, form
        assert server.metric(f"{name}_throttled_total", *share) > 0, form


@pytest.mark.long
def test_request_percentage(server: LimitedServer) -> None:
    """A client that asks for nothing but small things, all the time."""
    limit = 1.0
    server.limit(*USERS, "--entity-name", "carol", request_percentage=limit)
    server.limit(*USERS, "--entity-name", "carol", producer_byte_rate=1e9)
    loads = [Busy(server, "carol", f"busy-{number}", "small") for number in range(4)]
    try:
        with ExitStack() as stack:
            for load in loads:
                stack.enter_context(load)
            time.sleep(2 * WINDOW_S)
            began, before = time.monotonic(), sum(load.requests for load in loads)
            used = []
            while time.monotonic() - began < MEASURED_S:
                time.sleep(0.5)
                if server.is_ours:
                    used.append(server.metric("kafka_server_request_request_time", "carol", ""))
            requests = (sum(load.requests for load in loads) - before) / (time.monotonic() - began)
    finally:
        server.free(*USERS, "--entity-name", "carol", names="request_percentage,producer_byte_rate")
    waits = max(load.throttle_ms for load in loads)
    print(f"\n{server.server.name}, request_percentage={limit}: used {used}, {requests:.0f} requests/s, {waits} ms")
    # No wait is longer than a window.
    assert 0 < waits <= 1_000
    if server.is_ours:
        assert sum(used) / len(used) == pytest.approx(limit, rel=TOLERANCE)


class Busy(KafkaPythonProducer):
    """Sends one small record after the other, and waits for each."""

    requests = 0

    def work(self) -> None:
        producer = kafka.KafkaProducer(**self.settings(), linger_ms=0, max_block_ms=120_000)
        while not self.is_over.is_set():
            producer.send(self.topic, b"x").get(120)
            self.requests += 1
        self._look(producer.metrics())
        producer.close(timeout=10)


@pytest.mark.long
def test_connections_of_an_address(server: LimitedServer) -> None:
    """Who connects as fast as it can is served as often as its address may be."""
    limit, named = 20.0, "127.0.0.7"
    server.limit("--entity-type", "ips", "--entity-name", named, connection_creation_rate=limit)
    try:
        served = Connecting(server, named)
        bystander = Connecting(server, "127.0.0.8", pause_s=0.2)
        with served, bystander:
            time.sleep(2 * WINDOW_S)
            before, began = served.count, time.monotonic()
            time.sleep(MEASURED_S)
            got = (served.count - before) / (time.monotonic() - began)
    finally:
        server.free("--entity-type", "ips", "--entity-name", named, names="connection_creation_rate")
    print(f"\n{server.server.name}, connection_creation_rate={limit}: {got:.1f}/s, refused {served.refused}")
    assert served.refused
    assert not bystander.refused
    assert got == pytest.approx(limit, rel=TOLERANCE if server.is_ours else FOR_COMPARISON)


class Connecting:
    """Opens connections from an address, several at a time, and asks something on each."""

    def __init__(self, server: LimitedServer, source: str, *, pause_s: float = 0.0) -> None:
        self._server, self._source, self._pause_s = server, source, pause_s
        self.count = self.refused = 0
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        count = 1 if pause_s else 40
        self._threads = [threading.Thread(target=self._run) for _ in range(count)]

    def _run(self) -> None:
        while not self._is_over.wait(self._pause_s):
            is_served = self._is_served()
            with self._lock:
                self.count += is_served
                self.refused += not is_served

    def _is_served(self) -> bool:
        try:
            with Wire(self._server.server.address, source=self._source) as wire:
                wire.ask(ApiVersionsRequest(), 0)
        except OSError:
            return False
        return True

    def __enter__(self) -> "Connecting":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
