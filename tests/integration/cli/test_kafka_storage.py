"""`kafka-storage` beside Apache Kafka's own StorageTool: the same output, the same exit code, call by call."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.kafka.peer import command, require_kafka

ID = "AAAAAAAAQACAAAAAAAAAAQ"
OTHER = "AAAAAAAAQACAAAAAAAAAAg"
_DIRECTORY_ID = re.compile(r"directory\.id=[-\w]{22}")

SINGLE = [
    ["version-mapping"],
    ["version-mapping", "-r", "3.9"],
    ["version-mapping", "--release-version", "4.0-IV3"],
    ["feature-dependencies", "-f", "metadata.version=20", "-f", "eligible.leader.replicas.version=1"],
    ["feature-dependencies", "-f", "metadata.version=99"],
    ["feature-dependencies", "-f", "group.version"],
    ["feature-dependencies", "-f", "group.version=x"],
    ["feature-dependencies", "-f", "group.version=9"],
    ["feature-dependencies", "-f", "foo=1"],
    ["info"],
    ["info", "-c", "FILE"],
    ["format", "-t", ID, "-c", "FILE"],
    ["format", "-t", ID, "-c", "FILE", "-s", "-r", "9.9"],
    ["format", "-t", ID, "-c", "FILE", "-s", "-f", "foo=1"],
    ["format", "-t", ID, "-c", "FILE", "-N"],
    ["format", "-t", ID, "-c", "FILE", "--standalone", "-f", "metadata.version=20"],
    ["format", "-t", ID, "-c", "FILE", "-I", f"1@localhost:9093:{ID},2@localhost:9094:{OTHER}", "-r", "3.9"],
]
SEQUENCE = [
    ["format", "-t", ID, "-c", "FILE", "--standalone"],
    ["info", "-c", "FILE"],
    ["format", "-t", ID, "-c", "FILE", "--standalone"],
    ["format", "-t", ID, "-c", "FILE", "--standalone", "--ignore-formatted"],
]


class Side:
    """One of the two tools, with a configuration and directories of its own."""

    def __init__(self, directory: Path, words: Sequence[str]) -> None:
        self._directory = directory
        self._words = words
        self._file = directory / "server.properties"
        self.clear()

    def clear(self, *names: str) -> None:
        """Begins anew, with log directories of these names, by default two."""
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir(parents=True)
        self._file.write_text(
            "process.roles=broker,controller\nnode.id=1\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
            "controller.listener.names=CONTROLLER\ncontroller.quorum.bootstrap.servers=localhost:9093\n"
            f"log.dirs={','.join(f'{self._directory}/{name}' for name in names or ('a', 'b'))}\n"
        )

    def run(self, arguments: Sequence[str]) -> tuple[int, str, str]:
        """Exit code, output, and the last line of the error output, both without what differs by nature."""
        given = [str(self._file) if argument == "FILE" else argument for argument in arguments]
        done = subprocess.run([*self._words, *given], capture_output=True, text=True, check=False)
        errors = done.stderr.strip().splitlines()
        # Kafka formats directories in the order of their hashes.
        lines = sorted(done.stdout.splitlines(), key=lambda line: line if line.startswith("Formatting") else "")
        return done.returncode, self._bare("\n".join(lines)), self._bare(errors[-1] if errors else "")

    def _bare(self, text: str) -> str:
        return _DIRECTORY_ID.sub("directory.id=…", text.replace(str(self._directory), "DIR"))


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    require_kafka()
    directory = tmp_path_factory.mktemp("storage")
    ours = Side(directory / "ours", [sys.executable, "-m", "ottla.cli.kafka.storage"])
    return ours, Side(directory / "kafka", command("kafka.tools.StorageTool", []))


@pytest.mark.parametrize("arguments", SINGLE, ids=" ".join)
def test_a_call_says_and_costs_what_kafkas_does(sides: tuple[Side, Side], arguments: list[str]) -> None:
    for side in sides:
        side.clear()
    ours, kafka = (side.run(arguments) for side in sides)
    assert ours == kafka


def test_calls_that_build_on_each_other(sides: tuple[Side, Side]) -> None:
    for side in sides:
        side.clear("only")
    for arguments in SEQUENCE:
        ours, kafka = (side.run(arguments) for side in sides)
        assert ours == kafka, arguments
