"""`kafka-replica-verification` on three brokers, and its lines beside those of Kafka's own tool."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client import Admin, NewTopic, Producer
from tests.integration.cli.piped_tool import run_piped
from tests.integration.cli.running import running
from tests.integration.coordinator.cluster import Cluster
from tests.kafka.peer import command, require_kafka

_MOMENT = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}: ", re.MULTILINE)
REPORT = "max lag is 0 for partition {} at offset 30 among 1 partitions"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("replicas"))
    cluster.start()
    with Admin(bootstrap_servers=cluster.bootstrap) as admin:
        admin.create_topics([NewTopic("replicated", partitions=1, replication_factor=3)])
    with Producer(bootstrap_servers=cluster.bootstrap, acks="all") as producer:
        for number in range(30):
            producer.send("replicated", b"%d" % number).result(30)
    yield cluster
    cluster.kill()


def _arguments(cluster: Cluster) -> tuple[str, ...]:
    choice = ("--topics-include", "replicated", "--time", "-2", "--report-interval-ms", "100", "--max-wait-ms", "200")
    return "--broker-list", cluster.bootstrap, *choice


def test_all_replicas_are_the_same(cluster: Cluster, tmp_path: Path) -> None:
    with running("ottla.cli.kafka.replica_verification", *_arguments(cluster), directory=tmp_path) as verifying:
        verifying.wait_for(REPORT.format("replicated-0"))
        assert verifying.end(signal.SIGINT) == 128 + signal.SIGINT
    assert _MOMENT.sub("", verifying.lines[0]) == "verification process is started"
    assert all(_MOMENT.match(line) for line in verifying.lines)


def test_kafkas_tool_says_the_same(cluster: Cluster) -> None:
    require_kafka()
    tool = command("org.apache.kafka.tools.ReplicaVerificationTool", _arguments(cluster))
    with subprocess.Popen(tool, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        lines = [_MOMENT.sub("", process.stdout.readline().rstrip("\n")) for _ in range(3)]
        process.kill()
    assert lines[0] == "verification process is started"
    assert REPORT.format("replicated-0") in lines[1:]


def test_a_broker_that_is_down_delays_it(cluster: Cluster, tmp_path: Path) -> None:
    with running("ottla.cli.kafka.replica_verification", *_arguments(cluster), directory=tmp_path) as verifying:
        verifying.wait_for(REPORT.format("replicated-0"))
        cluster.brokers[3].kill()
        with Producer(bootstrap_servers=cluster.bootstrap, acks="1") as producer:
            producer.send("replicated", b"not on all").result(60)
        verifying.wait_for("max lag is 1 for partition replicated-0 at offset 30 among 1 partitions")
        cluster.brokers[3].start()
        verifying.wait_for("max lag is 0 for partition replicated-0 at offset 31 among 1 partitions")


def test_wrong_calls(cluster: Cluster) -> None:
    assert run_piped("replica_verification", "--fetch-size", "5").code == 1
    nothing = run_piped("replica_verification", "--broker-list", cluster.bootstrap, "--topics-include", "nothing")
    assert nothing.code == 1
    assert "No topics found." in nothing.err
    assert "valid host:port" in run_piped("replica_verification", "--broker-list", "nonsense").err
