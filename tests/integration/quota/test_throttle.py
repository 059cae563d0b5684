"""Clients that we did not write are told to wait, by each quota that names them, and by no other."""

import time
from collections.abc import Iterator

import pytest

from tests.clients.patience import until
from tests.clients.server import OTTLA
from tests.clients.topic import create
from tests.integration.quota.greedy import LibrdkafkaConsumer, LibrdkafkaProducer, Load
from tests.integration.quota.limited_server import WINDOW_S, LimitedServer
from tests.integration.quota.test_measured_rate import CLIENTS, FETCH, PRODUCE, USERS, Busy, fill
from tests.kafka.wire import Wire

LIMIT = 100_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LimitedServer]:
    found = LimitedServer(OTTLA, tmp_path_factory.mktemp("limited"))
    for topic in ("full", "empty", "small"):
        create(found.server, topic)
    with Wire(found.server.address) as wire:
        fill(wire)
    yield found
    found.server.stop()


@pytest.mark.parametrize(
    ("entity", "share", "key", "client", "metric"),
    [
        ((*USERS, "--entity-name", "alice"), ("alice", ""), FETCH, LibrdkafkaConsumer, "fetch"),
        ((*CLIENTS, "--entity-name", "app"), ("", "app"), FETCH, LibrdkafkaConsumer, "fetch"),
        (
            (*USERS, "--entity-name", "alice", *CLIENTS, "--entity-name", "app"),
            ("alice", "app"), PRODUCE, LibrdkafkaProducer, "produce",
        ),
        ((*USERS, "--entity-default"), ("alice", ""), PRODUCE, LibrdkafkaProducer, "produce"),
    ],
)  # fmt: skip
def test_bytes(
    server: LimitedServer,
    entity: tuple[str, ...],
    share: tuple[str, str],
    key: str,
    client: type[Load],
    metric: str,
) -> None:
    server.limit(*entity, **{key: LIMIT})
    began = time.monotonic()
    try:
        with client(server, "alice", "app", "full" if key == FETCH else "empty") as load:
            until(True, lambda: load.throttle_ms > 0)
            until(True, lambda: server.metric(f"kafka_server_{metric}_throttle_time", *share) > 0)
            assert server.metric(f"kafka_server_{metric}_byte_rate", *share) > 0
            assert server.metric(f"kafka_server_{metric}_throttled_total", *share) > 0
        # However long that took: what is free at first, the rate, and the batches that were under way.
        assert load.bytes <= LIMIT * (time.monotonic() - began + 4 * WINDOW_S)
    finally:
        server.free(*entity, names=key)


def test_request_time(server: LimitedServer) -> None:
    """Of a user; another one who does the same is not told to wait."""
    name = (*USERS, "--entity-name", "carol")
    server.limit(*name, request_percentage=0.01)
    try:
        with Busy(server, "carol", "busy", "small"), Busy(server, "bob", "free", "small") as free:
            until(True, lambda: server.metric("kafka_server_request_throttled_total", "carol", "") > 0)
            assert 0 < server.metric("kafka_server_request_throttle_time", "carol", "") <= 1_000
            until(True, lambda: free.requests > 20)
        assert server.metric("kafka_server_request_throttled_total", "bob", "") == 0
        assert free.throttle_ms == 0
    finally:
        server.free(*name, names="request_percentage")
