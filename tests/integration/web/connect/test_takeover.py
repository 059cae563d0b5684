"""A stopped cluster of Apache Kafka Connect goes on under ours, and back: connectors, states, tasks and offsets."""

import http.client
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import OTTLA, start_server
from tests.integration.web.connect_process import ConnectProcess
from tests.kafka.connect_worker import KafkaConnectWorker, worker_settings

pytestmark = pytest.mark.long
_PATIENCE_S = 90
_STRING = "org.apache.kafka.connect.storage.StringConverter"


def test_connectors_and_offsets_move_to_our_worker_and_back(tmp_path: Path) -> None:
    broker = start_server(OTTLA, tmp_path / "broker")
    kafka = KafkaConnectWorker(tmp_path / "kafka", broker.bootstrap, "moving")
    settings = worker_settings(broker.bootstrap, "moving", 0)
    options = [word for name, value in settings.items() if name != "listeners" for word in ("-X", f"{name}={value}")]
    ours = ConnectProcess(tmp_path / "ours", broker.bootstrap, *options)
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo\nthree\n")
    config = {
        "connector.class": "FileStreamSource", "file": str(lines), "topic": "moved", "value.converter": _STRING,
    }  # fmt: skip
    position = {"partition": {"filename": str(lines)}, "offset": {"position": 14}}
    try:
        kafka.start()
        for name, state in (("reads", "RUNNING"), ("rests", "PAUSED"), ("off", "STOPPED")):
            body = {"name": name, "config": config, "initial_state": state}
            until(kafka.port, lambda found: found[0] == 201, "POST", "/connectors", body)
        until(kafka.port, lambda found: found[1] == {"offsets": [position]}, "GET", "/connectors/reads/offsets")
        before = {name: ask(kafka.port, "GET", f"/connectors/{name}") for name in ("reads", "rests", "off")}
        kafka.stop()

        ours.start()
        assert {name: ask(ours.port, "GET", f"/connectors/{name}") for name in before} == before
        assert ours.ask("GET", "/connectors/reads/offsets")[1] == {"offsets": [position]}
        ours.wait_for("reads", "RUNNING")
        ours.wait_for("rests", "PAUSED")
        ours.wait_for("off", "STOPPED")
        assert ours.ask("PUT", "/connectors/reads/stop")[0] == 204
        ours.wait_for_tasks("reads")
        moved = {"offsets": [{**position, "offset": {"position": 4}}]}
        assert ours.ask("PATCH", "/connectors/reads/offsets", moved)[0] == 200
        assert ours.ask("PATCH", "/connectors/off/config", {"batch.size": 5})[0] == 200
        assert ours.ask("DELETE", "/connectors/rests")[0] == 204
        assert ours.stop() == 0

        kafka.start()
        assert sorted(ask(kafka.port, "GET", "/connectors")[1]) == ["off", "reads"]
        assert ask(kafka.port, "GET", "/connectors/off/config")[1]["batch.size"] == "5"
        assert ask(kafka.port, "GET", "/connectors/reads/offsets")[1] == moved
        until(kafka.port, lambda found: found[0] == 202, "PUT", "/connectors/reads/resume")
        # It reads on from where our worker set it.
        until(kafka.port, lambda found: found[1] == {"offsets": [position]}, "GET", "/connectors/reads/offsets")
    finally:
        ours.kill()
        kafka.kill()
        broker.kill()


def until(port: int, holds: Any, method: str, path: str, body: object = None) -> None:
    """Asks until the answer is what is waited for."""
    deadline = time.monotonic() + _PATIENCE_S
    while not holds(found := ask(port, method, path, body)):
        assert time.monotonic() < deadline, found
        time.sleep(0.3)


def ask(port: int, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Status and decoded answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
    finally:
        connection.close()
    return response.status, json.loads(answer) if answer else None
