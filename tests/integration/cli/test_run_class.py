"""`kafka-run-class`, which other projects' fixtures start servers and tools with."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ottla.cli.kafka.run_class import MODULES
from tests.integration.cli.running import END_SECONDS, running
from tests.integration.cli.test_server_start import STOP, NodeFile, _until
from tests.kafka.server import is_ready

RUN_CLASS = "ottla.cli.kafka.run_class"


def _run(*arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", RUN_CLASS, *arguments],
        capture_output=True,
        text=True,
        timeout=END_SECONDS,
        check=False,
        cwd=cwd,
    )


def test_the_server_is_a_class_too(tmp_path: Path) -> None:
    file = NodeFile(tmp_path)
    file.format()
    with running(
        RUN_CLASS, "-name", "kafkaServer", "-loggc", "kafka.Kafka", str(file.path), directory=tmp_path
    ) as node:
        assert f"nodeId={file.node_id}]" in node.wait_for("Kafka Server started")
        assert is_ready(("127.0.0.1", file.port))
        assert node.end() == 0


def test_a_daemon_of_a_class_is_stopped_as_any_other(tmp_path: Path) -> None:
    file = NodeFile(tmp_path)
    file.format()
    started = _run("-daemon", "-name", "mine", "kafka.Kafka", file.path.name, cwd=tmp_path)
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")
    _until(lambda: is_ready(("127.0.0.1", file.port)))
    subprocess.run([sys.executable, "-m", STOP, "--node-id", str(file.node_id)], timeout=END_SECONDS, check=True)
    _until(lambda: "shut down completed" in (tmp_path / "logs" / "mine.out").read_text())


@pytest.mark.parametrize("name", ["kafka.tools.StorageTool", "org.apache.kafka.tools.StorageTool"])
def test_a_tool_is_known_in_whatever_package(name: str) -> None:
    done = _run(name, "random-uuid")
    assert done.returncode == 0
    assert len(done.stdout.strip()) == 22


def test_every_class_has_its_tool() -> None:
    for module in MODULES.values():
        assert callable(importlib.import_module(f"ottla.cli.kafka.{module}").main)


@pytest.mark.parametrize("name", ["kafka.tools.Unheard", "StorageTool", "org.example.StorageTool"])
def test_a_class_that_nobody_knows_is_an_error(name: str) -> None:
    done = _run(name)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: Could not find or load main class {name}\n")


def test_a_wrong_call_shows_how_it_is_meant() -> None:
    done = _run("-daemon")
    assert done.returncode == 1
    assert "classname [opts]" in done.stdout


def test_a_class_that_is_gone_is_answered_with_what_took_its_place() -> None:
    done = _run("kafka.tools.MirrorMaker", "--whitelist", ".*")
    assert (done.returncode, done.stdout) == (1, "")
    error, hint = done.stderr.splitlines()
    assert error == "Error: Could not find or load main class kafka.tools.MirrorMaker"
    assert "connect-mirror-maker.sh" in hint


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("kafka-replica-validation.sh", "type kafka-replica-verification.sh --broker-list HOST:PORT --topics-include "),
        ("kafka-mirror-maker.sh", "MirrorMaker 1 left Kafka with 4.0."),
        ("zookeeper-server-start.sh", "there is nothing to start: type ottla broker"),
    ],
)
def test_a_command_that_is_gone_ends_as_shells_end_it_and_names_another(command: str, hint: str) -> None:
    program = f"import sys; sys.argv[0] = '/bin/{command}'; from ottla.cli.kafka.removed import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "--whitelist", ".*"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 127
    assert done.stderr.splitlines()[0] == f"{command}: command not found"
    assert hint in done.stderr.splitlines()[1]
    scripts = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts[command] == scripts[command.removesuffix(".sh")] == "ottla.cli.kafka.removed:main"
