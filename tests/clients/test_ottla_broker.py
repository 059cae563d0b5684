"""`ottla broker` as a new user meets it: no file, no formatting, any address, Ctrl-C, and the data still there."""

import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.record import tricky_records
from tests.clients.server import OTTLA, LoneOttla, kinds

pytestmark = [
    pytest.mark.client("confluent-kafka on `ottla broker`"),
    pytest.mark.skipif(OTTLA not in kinds(), reason="about ours alone"),
]


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[LoneOttla]:
    server = LoneOttla(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.mark.parametrize("request_to_stop", [signal.SIGINT, signal.SIGTERM], ids=lambda stop: stop.name)
def test_data_survives_a_stop(lone: LoneOttla, request_to_stop: signal.Signals) -> None:
    """an empty directory is formatted by itself; Ctrl-C and SIGTERM stop it cleanly, and everything is there again"""
    records = tricky_records()
    confluent.write(lone.bootstrap, "kept", records)
    assert lone.stop(request_to_stop) == 0, lone.output()
    lone.start()
    assert confluent.read(lone.bootstrap, "kept", len(records)) == records


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.7", "localhost"])
def test_any_address(lone: LoneOttla, host: str) -> None:
    """clients are told the address that they dialled, so that they stay on it"""
    bootstrap = f"{host}:{lone.port}"
    [broker] = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).brokers.values()
    assert (broker.host, broker.port) == ("127.0.0.1" if host == "localhost" else host, lone.port)
    assert confluent.write(bootstrap, "reached", tricky_records()[:1]) == [0]


def test_metrics_and_health(lone: LoneOttla) -> None:
    """/metrics, /healthz and /readyz answer while clients are served"""
    confluent.write(lone.bootstrap, "counted", tricky_records())

    def get(path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{lone.http_port}{path}", timeout=10) as answer:
            assert answer.status == 200
            text: str = answer.read().decode()
            return text

    metrics = get("/metrics")
    assert f'kafka_server_brokertopicmetrics_messagesin_total{{topic="counted"}} {len(tricky_records())}' in metrics
    for path in ("/healthz", "/readyz"):
        assert get(path)


def test_it_says_where_to_connect(lone: LoneOttla) -> None:
    """one line says where and how to connect"""
    # Clients are let in a moment before it is said.
    until(1, lambda: len(lone.output().strip().splitlines()))
    [line] = lone.output().strip().splitlines()
    assert f"bootstrap.servers=localhost:{lone.port}" in line
