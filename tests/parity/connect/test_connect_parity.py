"""Our worker answers every question as Kafka Connect 4.3.1 did, or differs for a reason that is written down."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import OTTLA, start_server
from tests.integration.web.connect_process import ConnectProcess
from tests.kafka.connect_worker import KafkaConnectWorker
from tests.kafka.server import Server
from tests.parity.connect.difference import DIFFERENCES, compared, reason
from tests.parity.connect.run import answers_of, recorded


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(OTTLA, tmp_path_factory.mktemp("broker"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def worker(broker: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectProcess]:
    process = ConnectProcess(tmp_path_factory.mktemp("worker"), broker.bootstrap)
    try:
        yield process.start()
    finally:
        process.kill()


def test_our_answers_are_kafkas_or_differ_for_a_reason(broker: Server, worker: ConnectProcess, tmp_path: Path) -> None:
    kafka, ours = recorded(), answers_of(worker.port, broker.bootstrap, tmp_path)
    assert ours.keys() == kafka.keys(), "the recording is of another script: record it again"
    different = {name for name in ours if _shown(ours[name]) != _shown(kafka[name])}
    unexplained = {name: (kafka[name], ours[name]) for name in different if reason(name) is None}
    assert not unexplained
    needed = {reason(name) for name in different}
    assert needed == set(DIFFERENCES.values()), "a reason is given that nothing needs"


def test_what_we_refuse_otherwise_we_refuse_in_words(broker: Server, worker: ConnectProcess) -> None:
    status, answer = worker.ask("POST", "/connectors", {"name": "a", "config": {"b": {"c": 1}}})
    assert (status, answer["message"]) == (400, 'The value of "b" must be a string, a number, a boolean or null')
    status, answer = worker.ask("POST", "/connectors", {"name": "a/b", "config": {}})
    assert (status, answer["error_code"]) == (400, 400)
    assert worker.ask("POST", "/connectors", raw=b"\xff\xfe")[0] == 400


@pytest.mark.long
def test_kafka_connect_still_answers_as_recorded(broker: Server, tmp_path: Path) -> None:
    worker = KafkaConnectWorker(tmp_path / "worker", broker.bootstrap, "parity").start()
    try:
        found = answers_of(worker.port, broker.bootstrap, tmp_path)
    finally:
        worker.kill()
    known = recorded()
    assert {name for name in known if found[name]["status"] != known[name]["status"]} == set()
    # Some texts have the length of a path, or the order of a hash table in them: those that ours differ from, too.
    exact = [name for name in known if reason(name) is None]
    assert {name for name in exact if _shown(found[name]) != _shown(known[name])} == set()


def _shown(answer: dict[str, Any]) -> dict[str, Any]:
    return compared(answer, runs_tasks=False)
