"""Apache Kafka 4.3.1 from Maven, for tests that compare with it or read what it wrote.

The jars are copied once to `~/.cache/ottla/kafka-4.3.1` (or `$OTTLA_KAFKA_JARS`). Where Java or Maven is missing the
tests that need them skip with one line.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.kafka.server import Server

VERSION = "4.3.1"
# With one of these missing the cache is of an earlier list of jars.
_JARS = ("kafka_2.13", "kafka-streams", "connect-file", "connect-mirror")
_HERE = Path(__file__).parent
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
    if not all(any(jar_directory().glob(f"{name}-*.jar")) for name in _JARS):
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
    done = subprocess.run(command(main, arguments), capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode:
        raise AssertionError(f"{main} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def command(main: str, arguments: Sequence[str], flags: Sequence[str] = _JVM_FLAGS) -> list[str]:
    """The command line that runs a class with Kafka's jars."""
    return ["java", *flags, "-cp", f"{jar_directory()}/*", main, *arguments]


class KafkaServer(Server):
    """A combined node of Apache Kafka with one log directory, on loopback."""

    name = "Apache Kafka"
    jvm_flags: tuple[str, ...] = _JVM_FLAGS

    def _format_command(self, cluster_id: str) -> Sequence[str]:
        arguments = ("format", "--standalone", "-t", cluster_id, "-c", str(self.config))
        return command("kafka.tools.StorageTool", arguments)

    def _serve_command(self) -> Sequence[str]:
        return command("kafka.Kafka", (str(self.config),), self.jvm_flags)
