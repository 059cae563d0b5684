"""Settings of a task's clients, of its boundaries, topics and restarts."""

from pathlib import Path

import pytest

from ottla.base.config import ConfigKey
from ottla.base.config_type import ConfigType
from ottla.connect.connector import SourceConnector
from ottla.connect.errors import ConnectError
from ottla.pipelines.connect.boundary import Boundary, boundary_of
from ottla.pipelines.connect.client_setting import admin_settings, consumer_settings, producer_settings
from ottla.pipelines.connect.definition import read_definition
from ottla.pipelines.connect.restart import RestartOption, RestartPolicy
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.kind import Place

WORKER = {
    "bootstrap.servers": "b:9092", "security.protocol": "SASL_SSL", "group.id": "workers", "client.id": "worker",
    "producer.acks": "1", "consumer.max.poll.records": "7", "value.converter": "x",
    "producer.key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
}  # fmt: skip
CONFIG = {"name": "n", "producer.override.acks": "all", "consumer.override.enable.auto.commit": "true"}


def test_brokers_and_security_are_said_once_and_prefixes_count_before_them() -> None:
    producer, consumer = producer_settings(CONFIG, WORKER, 3), consumer_settings(CONFIG, WORKER, 3)
    assert (producer["acks"], producer["client.id"]) == ("all", "connector-producer-n-3")
    assert consumer["max.poll.records"] == "7"
    assert (consumer["group.id"], consumer["client.id"]) == ("connect-n", "connector-consumer-n-3")
    # Offsets are committed by the task, whatever is asked for.
    assert consumer["enable.auto.commit"] == "false"
    admin = admin_settings(CONFIG, WORKER)
    for found in (producer, consumer, admin):
        assert (found["bootstrap.servers"], found["security.protocol"]) == ("b:9092", "SASL_SSL")
        assert not {"value.converter", "key.serializer"} & found.keys()


class First:
    """A partitioner with a setting of its own."""

    config_keys = (ConfigKey("first.keys", ConfigType.LIST, ()),)


def test_plug_ins_have_their_own_settings() -> None:
    override = {"partitioner.class": f"{__name__}:First", "first.keys": "a,b", "second.keys": "c"}
    config = {"name": "n", **{f"producer.override.{name}": value for name, value in override.items()}}
    made = producer_settings(config, WORKER, 0)
    assert made["first.keys"] == "a,b"
    assert "second.keys" not in made
    assert "first.keys" not in consumer_settings(config, WORKER, 0)


def test_secrets_of_the_control_process_are_settings_of_clients_and_shown_nowhere() -> None:
    secrets = {"producer.sasl.jaas.config": "hunter2", "consumer.sasl.jaas.config": "hunter3"}
    place = Place(
        name="connect-g@n", definition={}, checkpoint=Path("/c"), cluster={}, trigger="1 second", secrets=secrets
    )
    assert "hunter" not in repr(place)
    assert "hunter" not in repr(ControlOptions(client={}, data=Path("/d"), secrets={"connect-g@": secrets}))
    made = {"config": {"connector.class": "FileStreamSink", "topics": "t"}, "worker": WORKER}
    job = read_definition("n", made, {**place.cluster, **place.secrets}).jobs("/c")[0]
    assert "hunter" not in repr(job)
    assert producer_settings(job.config, job.worker, 0)["sasl.jaas.config"] == "hunter2"
    assert consumer_settings(job.config, job.worker, 0)["sasl.jaas.config"] == "hunter3"


@pytest.mark.parametrize(
    ("config", "worker", "wanted"),
    [
        ({}, {}, Boundary(False, 5.0)),
        ({}, {"offset.flush.interval.ms": "100"}, Boundary(False, 0.1)),
        ({}, {"exactly.once.source.support": "enabled"}, Boundary(True, 0.0)),
        ({"transaction.boundary": "interval", "transaction.boundary.interval.ms": "250"},
         {"exactly.once.source.support": "ENABLED"}, Boundary(True, 0.25)),
    ],
)  # fmt: skip
def test_boundaries(config: dict[str, str], worker: dict[str, str], wanted: Boundary) -> None:
    assert boundary_of(config, worker, SourceConnector()) == wanted


def test_exactly_once_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConnectError, match="does not have exactly-once source support enabled"):
        boundary_of({"exactly.once.support": "required"}, {}, SourceConnector())
    with pytest.raises(ConnectError, match="use poll or interval"):
        boundary_of(
            {"transaction.boundary": "connector"}, {"exactly.once.source.support": "enabled"}, SourceConnector()
        )


def test_pauses_grow_up_to_a_limit_and_a_healthy_task_begins_anew() -> None:
    policy = RestartPolicy("n-0", RestartOption.of({"tasks.restart.backoff.max.ms": "4000"}))
    pauses = [policy.failed(ran_ms=0) or 0 for _ in range(6)]
    assert all(low <= pause <= low * 2 for low, pause in zip((500, 1000, 2000, 2000, 2000, 2000), pauses, strict=True))
    assert (policy.failures, policy.failed(ran_ms=60_000), policy.failures) == (6, pauses[0], 1)
    assert RestartPolicy("n-0", RestartOption.of({"tasks.restart.max": "0"})).failed(ran_ms=0) is None
