"""`kafka-storage`, `kafka-server-start` and `kafka-server-stop` in the order in which scripts call them."""

import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.cli.running import END_SECONDS, running
from tests.kafka.peer import java, require_kafka
from tests.kafka.port import free_port, is_free
from tests.kafka.server import is_ready

STORAGE = "ottla.cli.kafka.storage"
START = "ottla.cli.kafka.server_start"
STOP = "ottla.cli.kafka.server_stop"
STARTED = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] INFO \[KafkaRaftServer nodeId=\d+\] Kafka Server started \(.+\)"
)


class NodeFile:
    """A `server.properties` for one combined node, with an id that no other node on this machine has."""

    def __init__(self, directory: Path) -> None:
        self.node_id = random.SystemRandom().randrange(1_000_000, 2_000_000_000)
        self.port = free_port()
        controller = free_port()
        self.path = directory / "server.properties"
        self.path.write_text(
            f"process.roles=broker,controller\nnode.id={self.node_id}\nlog.dirs={directory}/data\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}\n"
            "controller.listener.names=CONTROLLER\noffsets.topic.replication.factor=1\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:{controller}\n"
        )

    def format(self) -> None:
        cluster_id = _run(STORAGE, "random-uuid").stdout.strip()
        assert _run(STORAGE, "format", "-t", cluster_id, "-c", str(self.path), "--standalone").returncode == 0


def _run(module: str, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment or None,
        timeout=END_SECONDS,
        check=False,
    )


@pytest.fixture
def file(tmp_path: Path) -> NodeFile:
    return NodeFile(tmp_path)


def test_a_node_starts_as_the_file_says_and_scripts_see_it(file: NodeFile, tmp_path: Path) -> None:
    file.format()
    with running(START, str(file.path), "--override", "num.partitions=3", directory=tmp_path) as node:
        line = node.wait_for("Kafka Server started")
        assert STARTED.fullmatch(line)
        assert f"nodeId={file.node_id}]" in line
        assert is_ready(("127.0.0.1", file.port))
        assert node.end() == 0


def test_a_directory_that_is_not_formatted_refuses_with_the_way_out(file: NodeFile, tmp_path: Path) -> None:
    with running(START, str(file.path), directory=tmp_path) as node:
        assert node.wait() == 1
        assert "format" in node.wait_for("FATAL")


def test_a_daemon_runs_on_and_is_stopped_by_its_id(file: NodeFile, tmp_path: Path) -> None:
    file.format()
    started = _run(START, "-daemon", file.path.name, cwd=tmp_path)
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")
    _until(lambda: is_ready(("127.0.0.1", file.port)))
    assert _run(STOP, "--node-id", str(file.node_id + 1)).returncode == 0
    assert is_ready(("127.0.0.1", file.port)), "another id is another node"
    assert _run(STOP, f"--node-id={file.node_id}", "--process-role=broker").stdout == (
        "When both node-id and process-role are provided, the value for node-id will take precedence\n"
    )
    output = tmp_path / "logs" / "kafkaServer.out"
    _until(lambda: "shut down completed" in output.read_text())
    assert STARTED.search(output.read_text())
    assert not is_ready(("127.0.0.1", file.port))


def test_a_wrong_call_shows_how_it_is_meant() -> None:
    called = _run(START)
    assert called.returncode == 1
    assert "[-daemon] server.properties [--override property=value]*" in called.stdout
    assert _run(START, "--version").stdout == "4.3.1\n"
    missing = _run(START, "/none.properties")
    assert missing.returncode == 1
    assert missing.stderr == (
        "Exiting Kafka due to fatal exception: /none.properties: could not be read: No such file or directory\n"
    )


def port_with_room() -> int:
    """A free port; the controller's, 10,000 behind it, is free and below those that the system hands out, too."""
    return next(port for port in iter(free_port, None) if port < 22_000 and is_free(port + 10_000))


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + END_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_file_of_an_older_kafka_is_refused_with_the_command_that_writes_it_anew(tmp_path: Path) -> None:
    older, newer = tmp_path / "older.properties", tmp_path / "newer.properties"
    port = port_with_room()
    older.write_text(f"broker.id=7\nport={port}\nzookeeper.connect=localhost:2181\nlog.dirs={tmp_path}/data\n")
    refused = _run(START, str(older))
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f'Exiting Kafka due to fatal exception: {older}: Missing required configuration "process.roles" which has no '
        "default value.",
        f"port and zookeeper.connect are of an older Kafka: `ottla config upgrade {older}` prints the file for 4.3.",
    ]
    newer.write_text(_run("ottla.cli.main", "config", "upgrade", str(older)).stdout)
    done = _run(STORAGE, "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(newer), "--standalone")
    assert done.returncode == 0, done.stderr
    with running(START, str(newer), directory=tmp_path) as node:
        node.wait_for("Kafka Server started")
        assert is_ready(("127.0.0.1", port))
        assert node.end() == 0


LAB = {
    0: "min.insync.replicas=3\ncompression.type=producer\nauto.create.topics.enable=false\nmessage.max.bytes=65536\n"
    "replica.lag.time.max.ms=5000\ndelete.topic.enable=true\n",
    1: "min.insync.replicas=1\nauto.create.topics.enable=true\nzookeeper.connect=localhost:3181\nnum.partitions=13\n",
    2: "",
}
"""Server files as trainings print them, but for the port: in one directory, with relative directories for the logs."""


def test_three_files_of_a_training_start_side_by_side(tmp_path: Path) -> None:
    with ExitStack() as stack:
        nodes = []
        for number, settings in LAB.items():
            port = port_with_room()
            older, newer = tmp_path / f"server-{number}.properties", tmp_path / f"new-{number}.properties"
            older.write_text(f"broker.id={number}\nport={port}\nlog.dirs=./logs/kafka-{number}\n{settings}")
            newer.write_text(_run("ottla.cli.main", "config", "upgrade", str(older)).stdout)
            done = _run(
                STORAGE, "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", newer.name, "--standalone", cwd=tmp_path
            )
            assert done.returncode == 0, done.stderr
            nodes.append(stack.enter_context(running(START, newer.name, directory=tmp_path)))
            nodes[-1].wait_for("Kafka Server started")
            assert is_ready(("127.0.0.1", port))
        assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["kafka-0", "kafka-1", "kafka-2"]
        for node in nodes:
            assert node.end() == 0


def test_a_combined_node_without_a_controllers_listener_gets_one_that_starts(tmp_path: Path) -> None:
    older, newer, port = tmp_path / "older.properties", tmp_path / "newer.properties", port_with_room()
    older.write_text(f"process.roles=broker,controller\nbroker.id=7\nport={port}\nlog.dirs={tmp_path}/data\n")
    newer.write_text(_run("ottla.cli.main", "config", "upgrade", str(older)).stdout)
    done = _run(STORAGE, "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(newer), "--standalone")
    assert done.returncode == 0, done.stderr
    with running(START, str(newer), directory=tmp_path) as node:
        node.wait_for("Kafka Server started")
        assert is_ready(("127.0.0.1", port))
        assert node.end() == 0


def test_a_port_of_an_older_kafka_in_a_file_of_today_is_not_ignored(file: NodeFile) -> None:
    file.path.write_text(file.path.read_text() + "port=19693\n")
    refused = _run(START, str(file.path))
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"Exiting Kafka due to fatal exception: {file.path}, line 8: port is gone from Kafka 4.3",
        f"port is of an older Kafka: `ottla config upgrade {file.path}` prints the file for 4.3.",
    ]


def test_apache_kafka_takes_the_file_that_was_written_anew(tmp_path: Path) -> None:
    require_kafka()
    older, newer = tmp_path / "older.properties", tmp_path / "newer.properties"
    older.write_text(
        "broker.id=7\nport=19693\nhost.name=localhost\nadvertised.host.name=localhost\nadvertised.port=19694\n"
        f"zookeeper.connect=localhost:2181\nlog.dirs={tmp_path}/data\nlog.message.format.version=1.1\n"
    )
    newer.write_text(_run("ottla.cli.main", "config", "upgrade", str(older)).stdout)
    said = java("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(newer), "--standalone")
    assert "Formatting dynamic metadata voter directory" in said
