"""The trainings' labs of Connect: ten transforms by their names, and a target that is away for a while."""

import http.server
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.pipelines.connect.part import TaskState
from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.kafka.port import free_port
from tests.kafka.server import Server

JSON = "org.apache.kafka.connect.json.JsonConverter"
POSTER = "tests.integration.pipelines.connect.connectors:Poster"
TRANSFORMS = {
    "flat": "Flatten$Value", "flat.delimiter": "_",
    "insert": "InsertField$Value", "insert.static.field": "lab", "insert.static.value": "B1",
    "rename": "ReplaceField$Value", "rename.renames": "truck_id:id",
    "mask": "MaskField$Value", "mask.fields": "phone",
    "day": "TimestampConverter$Value", "day.field": "at", "day.target.type": "string", "day.format": "yyyy-MM-dd",
    "key": "ValueToKey", "key.fields": "id",
    "plain": "ExtractField$Key", "plain.field": "id",
    "name": "SetSchemaMetadata$Value", "name.schema.name": "lab.Truck",
    "route": "RegexRouter", "route.regex": ".*", "route.replacement": "trucks",
    "daily": "TimestampRouter", "daily.topic.format": "${topic}-${timestamp}", "daily.timestamp.format": "yyyyMMdd",
}  # fmt: skip


def test_the_ten_transforms_by_name(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source = topic()
    truck = {"type": "struct", "fields": [{"field": "id", "type": "int32"}, {"field": "driver", "type": "string"}]}
    fields = [{"field": "truck", **truck}, {"field": "at", "type": "int64"}, {"field": "phone", "type": "string"}]
    payload = {"truck": {"id": 13, "driver": "Ann"}, "at": 1_600_000_000_000, "phone": "555"}
    value = json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": payload})
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        producer.send(source, value, timestamp_ms=1_600_000_000_000).result()
    aliases = [name for name in TRANSFORMS if "." not in name]
    assert len(aliases) == 10
    chain = {f"transforms.{name}" if "." in name else f"transforms.{name}.type": to for name, to in TRANSFORMS.items()}
    config = {
        "connector.class": "ottla.connect.TopicSource", "source.topics": source, "value.converter": JSON,
        "source.bootstrap.servers": broker.bootstrap, "source.value.converter": JSON, "key.converter": JSON,
        "key.converter.schemas.enable": "false", "transforms": ",".join(aliases), **chain,
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "ten", config) as tasks:
        tasks.wait_until(lambda: tasks.parts()[0].topics == ("trucks-20200913",))
    with Consumer(bootstrap_servers=broker.bootstrap) as consumer:
        consumer.assign([("trucks-20200913", 0)])
        consumer.seek_to_beginning([("trucks-20200913", 0)])
        record = next(iter(consumer))
    found = json.loads(record.value)
    assert record.key == b"13"
    assert found["schema"]["name"] == "lab.Truck"
    assert found["payload"] == {"id": 13, "truck_driver": "Ann", "at": "2020-09-13", "phone": "", "lab": "B1"}


@pytest.mark.parametrize("away_s", [3, pytest.param(60, marks=pytest.mark.long)])
def test_records_wait_in_the_topic_while_the_target_is_away(
    broker: Server, topic: CreateTopic, tmp_path: Path, away_s: int
) -> None:
    source, port = topic(partitions=2), free_port()
    config = {"connector.class": POSTER, "topics": source, "port": str(port), "tasks.max": "2"}
    taken: list[str] = []
    with TaskHost(broker.bootstrap, tmp_path / f"away-{away_s}", config) as tasks:
        with target(port, taken):
            produce(broker, source, range(100))
            tasks.wait_until(lambda: len(set(taken)) == 100)
        produce(broker, source, range(100, 300))
        tasks.wait_until(lambda: sum(part.lag or 0 for part in tasks.parts()) == 200)
        time.sleep(away_s)
        assert len(set(taken)) == 100
        with target(port, taken):
            tasks.wait_until(lambda: len(set(taken)) == 300)
            tasks.wait_until(lambda: sum(part.lag or 0 for part in tasks.parts()) == 0)
        assert [part.failures for part in tasks.parts()] == [0, 0]
    assert sorted(map(int, taken)) == list(range(300)), "nothing is lost, and nothing came twice"


@pytest.mark.parametrize("away_s", [pytest.param(3, marks=pytest.mark.long), pytest.param(60, marks=pytest.mark.long)])
def test_records_wait_in_the_source_while_the_broker_is_away(
    broker: Server, topic: CreateTopic, tmp_path: Path, away_s: int
) -> None:
    between, file, copy = topic(partitions=2), tmp_path / "file", tmp_path / "copy"
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": between, "batch.size": "50"}
    sink = {"connector.class": "FileStreamSink", "topics": between, "file": str(copy), "tasks.max": "2",
            "consumer.override.isolation.level": "read_committed"}  # fmt: skip
    support = {"exactly_once_source_support": "enabled"}
    with (
        TaskHost(broker.bootstrap, tmp_path / f"gone-source-{away_s}", source, **support) as writing,
        TaskHost(broker.bootstrap, tmp_path / f"gone-sink-{away_s}", sink) as reading,
    ):
        append(file, range(300))
        reading.wait_until(lambda: len(lines(copy)) == 300)
        append(file, range(300, 600))
        broker.kill()
        append(file, range(600, 900))
        time.sleep(away_s)
        append(file, range(900, 1_000))
        broker.start()
        reading.wait_until(lambda: len(lines(copy)) == 1_000)
        append(file, range(1_000, 1_100))
        reading.wait_until(lambda: len(lines(copy)) == 1_100)
        assert [part.state for part in (*writing.parts(), *reading.parts())] == [TaskState.RUNNING] * 3
    wanted = Counter(str(number) for number in range(1_100))
    found = Counter(value.decode() for value in committed_values(broker.bootstrap, between) if value is not None)
    assert found == wanted, "nothing is lost, and nothing is there twice"
    # The sink may put records again behind its last commit; none is missing.
    assert set(lines(copy)) == set(wanted)


def append(file: Path, numbers: range) -> None:
    with file.open("a") as given:
        given.write("".join(f"{number}\n" for number in numbers))


def lines(file: Path) -> Counter[str]:
    return Counter(file.read_text().splitlines()) if file.exists() else Counter()


def produce(broker: Server, topic: str, numbers: range) -> None:
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        for number in numbers:
            producer.send(topic, str(number), partition=number % 2)
        producer.flush()


@contextmanager
def target(port: int, taken: list[str]) -> Iterator[None]:
    """A service that takes what is posted."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
