"""Source tasks with a broker: what is written, what is stored, and who gets up again."""

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.pipelines.connect import attendant
from ottla.pipelines.connect.part import TaskState
from tests.integration.pipelines.committed import committed_values, wait_for_markers
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import TaskHost
from tests.integration.pipelines.connect.task_process import processes
from tests.kafka.server import Server

COUNTER = "tests.integration.pipelines.connect.connectors:Counter"


def values(broker: Server, topic: str) -> Counter[str]:
    return Counter(value.decode() for value in committed_values(broker.bootstrap, topic) if value is not None)


def stored(broker: Server, name: str) -> dict[str, object]:
    """The offsets of a connector, as any reader of Kafka Connect's topic finds them."""
    found: dict[str, object] = {}
    with Consumer(bootstrap_servers=broker.bootstrap, isolation_level="read_committed") as consumer:
        place = TopicPartition("connect-offsets", 0)
        consumer.assign([place])
        consumer.seek_to_beginning([place])
        while consumer.position(place) < consumer.end_offsets([place])[place]:
            for record in consumer.poll(1.0):
                key = json.loads(record.key)
                if key[0] == name:
                    found[json.dumps(key[1])] = json.loads(record.value)
    return found


def wanted(*tasks: int, count: int) -> Counter[str]:
    return Counter(f"{task}:{number}" for task in tasks for number in range(count))


@pytest.mark.parametrize("support", [pytest.param("disabled", marks=pytest.mark.long), "enabled"])
def test_a_task_goes_on_where_its_offsets_say(
    broker: Server, topic: CreateTopic, tmp_path: Path, admin: Admin, support: str
) -> None:
    target = topic(partitions=2)
    name = f"counted-{support}"
    for count in (500, 800):
        config = {"connector.class": COUNTER, "topic": target, "count": str(count), "tasks.max": "2"}
        with TaskHost(broker.bootstrap, tmp_path / name, config, exactly_once_source_support=support) as tasks:
            tasks.wait_until(lambda count=count: values(broker, target).total() >= 2 * count)  # type: ignore[misc]
        assert all(part.trace is None for part in tasks.parts())
    wait_for_markers(admin, target)
    assert values(broker, target) == wanted(0, 1, count=800)
    assert stored(broker, name) == {'{"counter": "0"}': {"next": 800}, '{"counter": "1"}': {"next": 800}}


@pytest.mark.parametrize(
    "trouble",
    ["raise", *(pytest.param(trouble, marks=pytest.mark.long) for trouble in ("print", "exit", "hang", "leak"))],
)
def test_a_task_in_trouble_gets_up_again_and_each_record_is_there_once(
    broker: Server, topic: CreateTopic, tmp_path: Path, admin: Admin, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setattr(attendant, "_HANG_S", 8.0)
    target, name = topic(), f"trouble-{trouble}"
    config = {
        "connector.class": COUNTER, "topic": target, "count": "400", "trouble": trouble, "batch": "50",
        "flag": str(tmp_path / "flag"), "tasks.restart.backoff.ms": "10",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / name, config, exactly_once_source_support="enabled") as tasks:
        tasks.wait_until(lambda: values(broker, target).total() >= 400)
        tasks.wait_for(TaskState.RUNNING)
    assert not processes(), "whatever a connector leaks ends with its process"
    wait_for_markers(admin, target)
    assert values(broker, target) == wanted(0, count=400)
    assert (tmp_path / "flag").exists()


def test_a_task_that_fails_too_often_stays_failed_with_its_trace(
    broker: Server, topic: CreateTopic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = topic()
    monkeypatch.setenv("OTTLA_TEST_SECRET", "hunter2")
    config = {
        "connector.class": COUNTER, "topic": target, "count": "40", "trouble": "always", "batch": "10",
        "tasks.max": "1", "tasks.restart.max": "2", "tasks.restart.backoff.ms": "10",
        "secret": "${env:OTTLA_TEST_SECRET}",
    }  # fmt: skip
    env = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    worker = {"config_providers": "env", "config_providers_env_class": env}
    with TaskHost(broker.bootstrap, tmp_path / "failing", config, **worker) as tasks:
        part = tasks.wait_for(TaskState.FAILED)
    assert part.failures == 3
    assert part.trace is not None
    assert part.trace.startswith("org.apache.kafka.connect.errors.DataException: half is enough, ${")
    assert "hunter2" not in part.trace
    # What came before the failure is written, and stored as done.
    assert values(broker, target) == wanted(0, count=20)
    assert stored(broker, "failing") == {'{"counter": "0"}': {"next": 20}}


def test_a_task_says_where_its_transactions_end(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    target = topic()
    config = {
        "connector.class": COUNTER, "topic": target, "count": "75", "batch": "25", "transaction.boundary": "connector",
    }  # fmt: skip
    for turn in range(2):
        with TaskHost(broker.bootstrap, tmp_path / "ends", config, exactly_once_source_support="enabled") as tasks:
            tasks.wait_until(lambda turn=turn: values(broker, target).total() >= 60 + turn * 20)  # type: ignore[misc]
        config["count"] = "90"
    kept = [number for number in range(90) if not 40 <= number < 50]
    assert values(broker, target) == Counter(f"0:{number}" for number in kept)
    assert stored(broker, "ends") == {'{"counter": "0"}': {"next": 90}}


def test_a_restart_of_one_task_leaves_the_other_alone(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    target = topic()
    config = {
        "connector.class": COUNTER, "topic": target, "count": "100", "trouble": "raise", "batch": "50",
        "flag": str(tmp_path / "flag"), "tasks.max": "2", "tasks.restart.max": "0",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "one", config) as tasks:
        tasks.wait_until(lambda: {part.state for part in tasks.parts()} == {TaskState.FAILED, TaskState.RUNNING})
        failed = next(part.number for part in tasks.parts() if part.state is TaskState.FAILED)
        before = processes()
        tasks.restart(**{f"t{failed}": 1})
        seen = set()
        while tasks.parts()[failed].state is not TaskState.RUNNING:
            seen.add(tasks.parts()[1 - failed].state)
            time.sleep(0.01)
        assert seen == {TaskState.RUNNING}
        assert before < processes(), "the process of the other one is the same"
        tasks.wait_until(lambda: values(broker, target) == wanted(0, 1, count=100))
        # One that runs is restarted, too, and only by a number that is new.
        tasks.restart(t0=1, t1=1)
        tasks.wait_until(lambda: [part.restart for part in tasks.parts()] == [1, 1])
        tasks.wait_until(lambda: all(part.state is TaskState.RUNNING for part in tasks.parts()))
        assert len(processes() - before) == 2
    assert values(broker, target) == wanted(0, 1, count=100)


def test_records_that_cannot_be_converted_or_written_are_dead_letters_of_a_source(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    target, dead = topic(), topic()
    file = tmp_path / "lines"
    file.write_text("1\nx\n3\n" + "9" * 2_000_000 + "\n")
    config = {
        "connector.class": "FileStreamSource", "file": str(file), "topic": target, "transforms": "number",
        "transforms.number.type": "Cast$Value", "transforms.number.spec": "int64",
        "value.converter": "org.apache.kafka.connect.converters.LongConverter", "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead, "errors.deadletterqueue.context.headers.enable": "true",
    }  # fmt: skip
    with TaskHost(broker.bootstrap, tmp_path / "dead", config) as tasks:
        tasks.wait_until(lambda: len(stored(broker, "dead")) > 0)
    assert committed_values(broker.bootstrap, target) == [(1).to_bytes(8), (3).to_bytes(8)]
    assert committed_values(broker.bootstrap, dead)[0] == b"x"


def test_a_topic_goes_through_converters_into_another_and_on_after_a_restart(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(partitions=3), topic()
    config = {
        "connector.class": "ottla.connect.TopicSource", "source.topics": source, "target.topic": target,
        "source.bootstrap.servers": broker.bootstrap, "tasks.max": "2",
        "source.value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }  # fmt: skip
    for turn in range(2):
        with Producer(bootstrap_servers=broker.bootstrap) as producer:
            for number in range(30):
                producer.send(source, f"{turn}-{number}", f"k{number}", timestamp_ms=5_000, headers=[("h", b"1")])
        with TaskHost(broker.bootstrap, tmp_path / "topics", config) as tasks:
            tasks.wait_until(lambda turn=turn: values(broker, target).total() >= 30 * (turn + 1))  # type: ignore[misc]
    assert values(broker, target) == Counter(f'"{turn}-{number}"' for turn in range(2) for number in range(30))
    with Consumer(bootstrap_servers=broker.bootstrap) as consumer:
        place = TopicPartition(target, 0)
        consumer.assign([place])
        consumer.seek_to_beginning([place])
        [first, *_] = consumer.poll(30.0)
    assert (first.timestamp, first.headers) == (5_000, (("h", b"1"),))
    offsets = stored(broker, "topics")
    assert sum(found["offset"] for found in offsets.values() if isinstance(found, dict)) == 60
