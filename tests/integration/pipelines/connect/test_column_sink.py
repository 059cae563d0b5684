"""A sink that takes values by their fields: it has what it would have record by record, whatever is among them."""

import json
from pathlib import Path

import confluent_kafka
import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow: pip install ottla[arrow]")

from ottla.client.admin.blocking_admin import Admin
from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.integration.pipelines.connect.test_sink_task import committed
from tests.kafka.server import Server


def test_lines_of_a_file_are_those_of_the_records(
    broker: Server, topic: CreateTopic, tmp_path: Path, admin: Admin
) -> None:
    source, dead, file = topic(), topic(), tmp_path / "lines"
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    values = [json.dumps({"line": f"é{number}", "n": number}).encode() for number in range(400)]
    values[70], values[150], values[230] = b"no JSON{", b'{"n":5,"line":"other order"}', b'{"line":null,"n":[1]}'
    for number, value in enumerate(values):
        producer.produce(source, value, timestamp=1_000, headers=[("h", b"7")] if 300 <= number < 310 else [])
    assert not producer.flush(60)
    config = {
        "connector.class": "FileStreamSink", "topics": source, "file": str(file), "transforms": "name,mark",
        "transforms.name.type": "ReplaceField$Value", "transforms.name.renames": "line:text",
        "transforms.mark.type": "InsertField$Value", "transforms.mark.static.field": "by",
        "transforms.mark.static.value": "me", "transforms.mark.offset.field": "at",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
        "errors.tolerance": "all", "errors.deadletterqueue.topic.name": dead,
        "consumer.override.max.poll.records": "50",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "fields", config) as tasks:
        tasks.wait_until(lambda: committed(admin, "fields", source) == len(values))
        tasks.wait_until(lambda: tasks.parts()[0].records == len(values))
    wanted = [f"{{text=é{number}, n={number}, at={number}, by=me}}" for number in range(400)]
    wanted[150], wanted[230] = "{n=5, text=other order, at=150, by=me}", "{text=null, n=[1], at=230, by=me}"
    del wanted[70]
    assert file.read_text().splitlines() == wanted
    assert committed_values(broker.bootstrap, dead) == [b"no JSON{"]
