"""Sink tasks with a broker: what is put, what is committed, what becomes of the records that can't be."""

import json
import time
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.record import TopicPartition
from ottla.pipelines.connect.part import TaskState
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.kafka.server import Server

KEEPER = "tests.integration.pipelines.connect.connectors:Keeper"
JSON = "org.apache.kafka.connect.json.JsonConverter"


def produce(broker: Server, topic: str, *values: bytes, partition: int = 0) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "message.max.bytes": "8000000"})
    for number, value in enumerate(values):
        producer.produce(topic, value, key=b"k", partition=partition, timestamp=1_000 + number, headers=[("h", b"7")])
        producer.poll(0)
    assert not producer.flush(60)


def kept(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def committed(admin: Admin, name: str, topic: str) -> int:
    group = f"connect-{name}"
    offsets = admin.list_consumer_group_offsets({group: None})[group]
    found = offsets.get(TopicPartition(topic, 0))
    return -1 if found is None else found.offset


def test_records_arrive_with_their_place_time_and_headers_and_are_committed(
    broker: Server, topic: CreateTopic, tmp_path: Path, admin: Admin
) -> None:
    source, file = topic(partitions=2), tmp_path / "kept"
    config = {"connector.class": KEEPER, "topics": source, "file": str(file), "tasks.max": "2"}
    produce(broker, source, b"a", b"b")
    produce(broker, source, b"c", partition=1)
    with TaskHost(broker.bootstrap, tmp_path / "placed", config) as tasks:
        tasks.wait_until(lambda: len(kept(file)) >= 3)
        tasks.wait_until(lambda: committed(admin, "placed", source) == 2)
    assert sorted(kept(file)) == [
        [source, 0, 0, 1_000, "CreateTime", "k", "a", [["h", 7]]],
        [source, 0, 1, 1_001, "CreateTime", "k", "b", [["h", 7]]],
        [source, 1, 0, 1_000, "CreateTime", "k", "c", [["h", 7]]],
    ]
    produce(broker, source, b"d")
    with TaskHost(broker.bootstrap, tmp_path / "placed", config) as tasks:
        tasks.wait_until(lambda: len(kept(file)) >= 4)
    assert kept(file)[3][6] == "d"
    assert len(kept(file)) == 4


def test_a_retriable_error_brings_the_same_records_again_once(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, file = topic(), tmp_path / "kept"
    produce(broker, source, b"a", b"b", b"c")
    config = {"connector.class": KEEPER, "topics.regex": f"{source[:-1]}.", "file": str(file), "retry": "b"}
    with TaskHost(broker.bootstrap, tmp_path / "retried", config) as tasks:
        tasks.wait_until(lambda: len(kept(file)) >= 3)
        produce(broker, source, b"d")
        tasks.wait_until(lambda: len(kept(file)) >= 4)
        assert tasks.parts()[0].failures == 0
    assert [each[6] for each in kept(file)] == ["a", "b", "c", "d"]


def test_what_waits_is_told_as_lag(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, file = topic(), tmp_path / "kept"
    produce(broker, source, *(b"%d" % number for number in range(25)))
    config = {
        "connector.class": KEEPER, "topics": source, "file": str(file), "retry": "3",
        "patience": str(tmp_path / "patience"), "consumer.override.max.poll.records": "10",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "lagging", config) as tasks:
        tasks.wait_until(lambda: tasks.parts()[0].lag == 25)
        (tmp_path / "patience").touch()
        tasks.wait_until(lambda: len(kept(file)) == 25 and tasks.parts()[0].lag == 0)


def test_poison_is_a_dead_letter_that_says_why(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, file, dead = topic(), tmp_path / "kept", f"dead-{time.time_ns()}"
    produce(broker, source, b'"a"', b"{", b'"given up"', b'"b"')
    config = {
        "connector.class": KEEPER, "topics": source, "file": str(file), "report": "given up", "value.converter": JSON,
        "value.converter.schemas.enable": "false", "errors.tolerance": "all", "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.context.headers.enable": "true",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "poisoned", config) as tasks:
        tasks.wait_until(lambda: len(kept(file)) >= 2)
    assert [each[6] for each in kept(file)] == ["a", "b"]
    first, second = (dict(found.headers() or ()) for found in read(broker, dead, 2))
    assert first["h"] == b"7"
    prefix = "__connect.errors."
    assert {name.removeprefix(prefix): value for name, value in first.items() if name.startswith(prefix)}.items() >= {
        "topic": source.encode(), "partition": b"0", "offset": b"1", "connector.name": b"poisoned", "task.id": b"0",
        "stage": b"VALUE_CONVERTER", "class.name": JSON.encode(),
        "exception.class.name": b"org.apache.kafka.connect.errors.DataException",
    }.items()  # fmt: skip
    assert (second[f"{prefix}stage"], second[f"{prefix}exception.message"]) == (b"TASK_PUT", b"no room for it")


def test_without_tolerance_the_task_fails_before_the_poison_and_commits_what_came_before(
    broker: Server, topic: CreateTopic, tmp_path: Path, admin: Admin
) -> None:
    source, file = topic(), tmp_path / "kept"
    produce(broker, source, b'"a"')
    config = {
        "connector.class": KEEPER, "topics": source, "file": str(file), "value.converter": JSON,
        "value.converter.schemas.enable": "false", "tasks.restart.max": "0",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "strict", config) as tasks:
        tasks.wait_until(lambda: committed(admin, "strict", source) == 1)
        produce(broker, source, b"{")
        part = tasks.wait_for(TaskState.FAILED)
    assert (part.trace or "").startswith(
        "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n\tat "
    )
    assert "\nCaused by: org.apache.kafka.connect.errors.DataException: " in (part.trace or "")
    assert committed(admin, "strict", source) == 1


@pytest.mark.long
def test_values_of_5_mb_go_through(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source = topic(configs={"max.message.bytes": "8000000"})
    target = topic(configs={"max.message.bytes": "8000000"})
    big, file, back = b"x" * 5_000_000, tmp_path / "big", tmp_path / "back"
    file.write_bytes(big + b"\n")
    from_file = {
        "connector.class": "FileStreamSource", "file": str(file), "topic": target,
        "producer.override.max.request.size": "8000000",
    }  # fmt: skip
    to_file = {"connector.class": "FileStreamSink", "topics": f"{source},{target}", "file": str(back)}
    produce(broker, source, big)
    with (
        TaskHost(broker.bootstrap, tmp_path / "big-source", from_file) as one,
        TaskHost(broker.bootstrap, tmp_path / "big-sink", to_file) as other,
    ):
        other.wait_until(lambda: back.exists() and back.stat().st_size >= 2 * len(big) + 2)
        assert one.parts()[0].failures == 0
    assert back.read_bytes() == (big + b"\n") * 2


def read(broker: Server, topic: str, count: int) -> list[confluent_kafka.Message]:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": f"read-{topic}", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    found: list[confluent_kafka.Message] = []
    deadline = time.monotonic() + 60
    try:
        while len(found) < count:
            assert time.monotonic() < deadline, found
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                found.append(message)
    finally:
        consumer.close()
    return found
