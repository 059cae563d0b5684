"""Spark drivers beside each other: ours, and one with Spark's own Kafka connector where it can be had.

The connector is to be had whole for Spark 4.0.0 only, so its driver is that. Both are fetched once with pip and Maven
into `~/.cache/ottla/spark-4.0.0`; without them ours runs alone.
"""

import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which
from typing import Self

from tests.bench.session_cpu import session_cpu_seconds
from tests.kafka.server import Server

OURS, CONNECTOR = "ours", "Spark's connector"
_CACHE = Path.home() / ".cache" / "ottla" / "spark-4.0.0"
_PROGRAM = Path(__file__).with_name("spark_query.py")
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>ottla</groupId><artifactId>bench</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.spark</groupId><artifactId>spark-sql-kafka-0-10_2.13</artifactId><version>4.0.0</version>
</dependency></dependencies></project>
"""
_SPARK_HAS = ("hadoop-", "scala-library", "slf4j-", "lz4-", "snappy-", "jsr305-")


class Driver:
    """A process that answers each line, such as one of `spark_query`."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._line()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def ask(self, *words: str) -> tuple[float, float]:
        """One query: its seconds and its rows."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()
        seconds, rows = self._line().split()
        return float(seconds), float(rows)

    def cpu_seconds(self) -> float:
        """What the driver, its JVM and all their Python processes have used, those that have ended included."""
        return session_cpu_seconds(self._process.pid)

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the driver ended"
        return line


@contextmanager
def drivers(server: Server) -> Iterator[dict[str, Driver]]:
    """All that can be had, ours first."""
    with ExitStack() as stack:
        found = {OURS: stack.enter_context(Driver(sys.executable, str(_PROGRAM), "ottla", server.bootstrap))}
        connector = _connector()
        if connector is not None:
            python, jars = connector
            found[CONNECTOR] = stack.enter_context(Driver(python, str(_PROGRAM), "kafka", server.bootstrap, jars))
        yield found


def _connector() -> tuple[str, str] | None:
    """The Python that has Spark 4.0.0, and the jars of its Kafka connector; None where they can't be had."""
    python, jars = _CACHE / "bin" / "python", _CACHE / "jars"
    if not jars.is_dir():
        if which("mvn") is None:
            return None
        venv.create(_CACHE, with_pip=True)
        _CACHE.joinpath("pom.xml").write_text(_POM)
        copy = ("dependency:copy-dependencies", f"-DoutputDirectory={jars}")
        for command in (
            [str(python), "-m", "pip", "install", "--quiet", "pyspark==4.0.0"],
            ["mvn", "--quiet", "--batch-mode", "--file", str(_CACHE / "pom.xml"), *copy],
        ):
            if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
                return None
    found = [str(jar) for jar in sorted(jars.glob("*.jar")) if not jar.name.startswith(_SPARK_HAS)]
    return str(python), ",".join(found)
