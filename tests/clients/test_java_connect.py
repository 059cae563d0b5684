"""Kafka Connect, unchanged, as a distributed worker with connectors for files, and exactly once on the way in.

A worker is a member of a group with a protocol of its own; its three topics are compacted; a source that is exactly
once writes records and positions in transactions, and fences the tasks that it takes over from.
"""

import json
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from tests.clients import topic
from tests.clients.client import confluent
from tests.clients.jvm import Program
from tests.clients.patience import until
from tests.kafka.peer import VERSION, require_kafka
from tests.kafka.port import free_port
from tests.kafka.server import Server

pytestmark = [pytest.mark.client(f"Kafka Connect {VERSION}"), pytest.mark.long]
_MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"
_FILES = "org.apache.kafka.connect.file.FileStream"


class Worker:
    """A worker and its REST interface."""

    def __init__(self, server: Server, directory: Path) -> None:
        self._port = free_port()
        text = "org.apache.kafka.connect.storage.StringConverter"
        settings = {
            "bootstrap.servers": server.bootstrap,
            "group.id": "connect",
            "key.converter": text,
            "value.converter": text,
            "listeners": f"http://127.0.0.1:{self._port}",
            "plugin.discovery": "service_load",
            "exactly.once.source.support": "enabled",
            "offset.flush.interval.ms": "500",
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "1000",
            "scheduled.rebalance.max.delay.ms": "0",
            "offset.storage.partitions": "5",
            "status.storage.partitions": "2",
        }
        for name in ("config", "offset", "status"):
            settings |= {f"{name}.storage.topic": f"connect-{name}", f"{name}.storage.replication.factor": "1"}
        properties = directory / "worker.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self.program = Program(directory / "worker.log", _MAIN, (str(properties),))

    def ask(self, path: str, config: dict[str, str] | None = None) -> Any:
        """What the REST interface answers, None while it does not."""
        self.program.check()
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}")
        if config is not None:
            request.method, request.data = "PUT", json.dumps(config).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError):
            return None

    def put(self, name: str, **config: str) -> None:
        """Creates a connector, and waits until its tasks run."""
        settings = {setting.replace("_", "."): value for setting, value in config.items()}
        until(True, lambda: self.ask(f"/connectors/{name}/config", settings) is not None)
        until(["RUNNING", "RUNNING"], lambda: self.states(name))

    def states(self, name: str) -> list[str]:
        """The states of a connector and of its tasks."""
        status = self.ask(f"/connectors/{name}/status")
        return [part["state"] for part in (status["connector"], *status["tasks"])] if status else []


@pytest.fixture
def worker(lone_server: Callable[..., Server], tmp_path: Path) -> Iterator[tuple[Server, Worker]]:
    """A worker of a server that only this test uses."""
    require_kafka()
    server = lone_server(group_initial_rebalance_delay_ms="0")
    worker = Worker(server, tmp_path)
    yield server, worker
    worker.program.kill()


def test_lines_go_through_a_topic_from_file_to_file(worker: tuple[Server, Worker], tmp_path: Path) -> None:
    """a distributed worker with a source that is exactly once and a sink, killed and started again"""
    server, connect = worker
    source, sink = tmp_path / "in.txt", tmp_path / "out.txt"
    topic.create(server, "lines")
    lines: list[str] = []

    def write(count: int) -> None:
        added = [f"line {len(lines) + number}" for number in range(count)]
        lines.extend(added)
        with source.open("a") as file:
            file.write("".join(f"{line}\n" for line in added))

    write(500)
    connect.program.start()
    connect.put("source", connector_class=f"{_FILES}SourceConnector", file=str(source), topic="lines", tasks_max="1")
    connect.put("sink", connector_class=f"{_FILES}SinkConnector", file=str(sink), topics="lines", tasks_max="1")
    until(set(lines), lambda: set(read_lines(sink)))
    write(500)
    connect.program.kill()
    write(500)
    connect.program.start()
    until(set(lines), lambda: set(read_lines(sink)))
    assert committed(server, "lines", len(lines)) == lines
    assert Counter(connect.states("source") + connect.states("sink")) == {"RUNNING": 4}


def read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def committed(server: Server, name: str, count: int) -> list[str]:
    """The values of a topic's committed records, and no more than there should be."""
    consumer = confluent.consumer(server.bootstrap, isolation_level="read_committed", enable_partition_eof=True)
    consumer.assign([TopicPartition(name, 0, 0)])
    values: list[str] = []
    while len(values) <= count:
        message = consumer.poll(30)
        assert message is not None, f"{len(values)} of {count}, then nothing for 30 s"
        if message.error() is not None:
            break
        values.append(message.value().decode())
    consumer.close()
    return values
