"""Apache Kafka 4.3.1 from Maven, for tests that compare with it or read what it wrote.

The jars are copied once to `~/.cache/ottla/kafka-4.3.1` (or `$OTTLA_KAFKA_JARS`). Where Java or Maven is missing the
tests that need them skip with one line.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

VERSION = "4.3.1"
_HERE = Path(__file__).parent
_START_SECONDS = 60
_JVM_FLAGS = (
    "-Xmx512M",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # What goes wrong, on the error output; what tools print is their answer.
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


def jar_directory() -> Path:
    """Where the jars are, or would be."""
    given = os.environ.get("OTTLA_KAFKA_JARS")
    return Path(given) if given else Path.home() / ".cache" / "ottla" / f"kafka-{VERSION}"


def require_kafka() -> None:
    """Skips the calling test unless Apache Kafka can be run here; fetches its jars if need be."""
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Apache Kafka")
    if not any(jar_directory().glob("kafka_2.13-*.jar")):
        if shutil.which("mvn") is None:
            pytest.skip("needs Maven to fetch Apache Kafka")
        _fetch()


def _fetch() -> None:
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(_HERE / "pom.xml"), "dependency:copy-dependencies"]
    done = subprocess.run(
        [*command, f"-DoutputDirectory={jar_directory()}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"Maven could not fetch Apache Kafka: {done.stdout.strip().splitlines()[-1:]}")


def java(main: str, *arguments: str, timeout: float = 120) -> str:
    """Runs a class, or a single `.java` file of this directory, with Kafka's jars; what it printed."""
    main = str(_HERE / main) if main.endswith(".java") else main
    done = subprocess.run(_command(main, arguments), capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode:
        raise AssertionError(f"{main} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _command(main: str, arguments: Sequence[str]) -> list[str]:
    return ["java", *_JVM_FLAGS, "-cp", f"{jar_directory()}/*", main, *arguments]


class KafkaServer:
    """A combined node of Apache Kafka with one log directory, on loopback."""

    def __init__(self, directory: Path, **settings: str) -> None:
        self.log_directory = directory / "logs"
        self._output = directory / "server.log"
        self._config = directory / "server.properties"
        self._port, self._controller_port = _free_port(), _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)
        self._config.write_text("".join(f"{name}={value}\n" for name, value in self._properties(settings).items()))

    @property
    def bootstrap(self) -> str:
        """What clients connect to."""
        return f"127.0.0.1:{self._port}"

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        endpoints = f"PLAINTEXT://127.0.0.1:{self._port},CONTROLLER://127.0.0.1:{self._controller_port}"
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": endpoints,
            "advertised.listeners": endpoints,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self._controller_port}",
            "log.dirs": str(self.log_directory),
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }

    def format(self, cluster_id: str) -> None:
        """Writes what a new log directory needs."""
        java("kafka.tools.StorageTool", "format", "--standalone", "-t", cluster_id, "-c", str(self._config))

    def start(self) -> None:
        """Starts it and waits until it answers."""
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                _command("kafka.Kafka", [str(self._config)]), stdout=output, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + _START_SECONDS
        while not _answers(self._port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"Apache Kafka did not start:\n{self._output.read_text()[-4000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Asks it to stop and waits until it has: a clean stop."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_START_SECONDS)
            self._process = None

    def kill(self) -> None:
        """Ends it without a chance to tidy up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
