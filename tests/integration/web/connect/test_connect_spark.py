"""`ottla connect` whole: REST in front, tasks on Spark behind, and the five minutes of docs/CONNECT.md."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import OTTLA, start_server
from tests.integration.web.connect_process import ConnectProcess
from tests.integration.web.service_process import eventually
from tests.kafka.server import Server

pytestmark = pytest.mark.long
_SLOW_S = 240
_DOCUMENT = Path(__file__).parents[4] / "docs" / "CONNECT.md"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
    server = start_server(OTTLA, tmp_path_factory.mktemp("broker"))
    yield server
    server.kill()


def node(directory: Path, server: Server, group: str) -> ConnectProcess:
    """A worker with a runner; all of them write to the same topics of pipelines."""
    own = {"pipelines.directory": str(directory / "data"), "group.id": group}
    options = [word for name, value in own.items() for word in ("-X", f"{name}={value}")]
    return ConnectProcess(directory, server.bootstrap, *options, has_runner=True)


def end(worker: ConnectProcess) -> None:
    """In order, so that Spark ends with it; by force if that takes too long."""
    try:
        worker.stop()
    except subprocess.TimeoutExpired:
        worker.kill()


def test_lines_move_stop_and_are_read_again_from_altered_offsets(broker: Server, tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("one\ntwo\nthree\n")
    worker = node(tmp_path / "worker", broker, "whole")
    try:
        worker.start()
        assert worker.create("in", connector_class="FileStreamSource", file=str(source), topic="whole")[0] == 201
        assert worker.create("out", connector_class="FileStreamSink", file=str(target), topics="whole")[0] == 201
        eventually(lambda: target.exists() and target.read_text() == "one\ntwo\nthree\n", worker, _SLOW_S)
        eventually(lambda: worker.task_states("in") == worker.task_states("out") == ["RUNNING"], worker, _SLOW_S)
        eventually(lambda: worker.ask("GET", "/connectors/in/topics")[1] == {"in": {"topics": ["whole"]}}, worker)
        where = {"partition": {"filename": str(source)}, "offset": {"position": 14}}
        eventually(lambda: worker.ask("GET", "/connectors/in/offsets")[1] == {"offsets": [where]}, worker, _SLOW_S)
        assert worker.ask("PUT", "/connectors/in/stop")[0] == 204
        moved = {"offsets": [{**where, "offset": {"position": 8}}]}
        eventually(lambda: worker.ask("PATCH", "/connectors/in/offsets", moved)[0] == 200, worker, _SLOW_S)
        assert worker.ask("PUT", "/connectors/in/resume")[0] == 202
        eventually(lambda: target.read_text() == "one\ntwo\nthree\nthree\n", worker, _SLOW_S)
        late = tmp_path / "late" / "out.txt"
        broken = {"connector.class": "FileStreamSink", "file": str(late), "topics": "whole", "tasks.restart.max": "0"}
        assert worker.ask("PUT", "/connectors/out/config", broken)[0] == 200
        eventually(lambda: worker.task_states("out") == ["FAILED"], worker, _SLOW_S)
        trace = worker.ask("GET", "/connectors/out/tasks/0/status")[1]["trace"]
        assert trace.startswith("org.apache.kafka.connect.errors.ConnectException: Couldn't find or create file")
        assert worker.state("out") == "RUNNING"
        status, plan = worker.ask("POST", "/connectors/out/restart?includeTasks=true&onlyFailed=true")
        assert (status, plan["connector"]["state"], plan["tasks"][0]["state"]) == (202, "RUNNING", "RESTARTING")
        eventually(lambda: worker.task_states("out") == ["FAILED"], worker, _SLOW_S)
        late.parent.mkdir()
        assert worker.ask("POST", "/connectors/out/tasks/0/restart")[0] == 204
        eventually(lambda: worker.task_states("out") == ["RUNNING"], worker, _SLOW_S)
        mended = {**broken, "file": str(target)}
        assert worker.ask("PUT", "/connectors/out/config", mended)[0] == 200
        eventually(lambda: worker.task_states("out") == ["RUNNING"], worker, _SLOW_S)
    finally:
        end(worker)


def test_the_five_minutes_of_the_page(broker: Server, tmp_path: Path) -> None:
    found = re.search(r"## Five minutes.*?```sh\n(.*?)```", _DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    lines = [line for line in found[1].splitlines() if not line.endswith(" &")]
    assert [line for line in found[1].splitlines() if line.endswith(" &")] == ["ottla broker &", "ottla connect &"]
    worker = node(tmp_path / "worker", broker, "minutes")
    try:
        # A reader pastes all lines at once: the worker is not there yet when the first of them asks it.
        worker.start(wait=False)
        script = "\n".join(lines).replace("http://localhost:8083", worker.url)
        script = script.replace("ottla connect list", f"ottla connect list --url {worker.url}")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-e", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert [line.split()[:3] for line in done.stdout.splitlines()[-2:]] == [
            ["in", "source", "RUNNING"],
            ["out", "sink", "RUNNING"],
        ]
        target = tmp_path / "out.txt"
        eventually(lambda: target.exists() and target.read_text() == "hello\nConnect\n", worker, _SLOW_S)
        with (tmp_path / "in.txt").open("a") as file:
            file.write("more\n")
        eventually(lambda: target.read_text() == "hello\nConnect\nmore\n", worker, _SLOW_S)
    finally:
        end(worker)


def test_tasks_go_on_after_the_worker_was_killed(broker: Server, tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("".join(f"{number}\n" for number in range(1000)))
    worker = node(tmp_path / "worker", broker, "killed")
    try:
        worker.start()
        assert worker.create("in", connector_class="FileStreamSource", file=str(source), topic="killed")[0] == 201
        assert worker.create("out", connector_class="FileStreamSink", file=str(target), topics="killed")[0] == 201
        eventually(lambda: target.exists() and target.read_text().count("\n") >= 1000, worker, _SLOW_S)
        worker.kill()
        with source.open("a") as file:
            file.write("".join(f"{number}\n" for number in range(1000, 2000)))
        worker.start()
        # At least once: no line is lost, some may come again.
        wanted = {str(number) for number in range(2000)}
        eventually(lambda: set(target.read_text().split()) == wanted, worker, _SLOW_S)
        assert sorted(worker.ask("GET", "/connectors")[1]) == ["in", "out"]
        said = worker.log.read_text()
        assert "Start query connect-killed@in" in said
        assert "Start query connect-whole" not in said, "connectors of other clusters are for their workers"
    finally:
        end(worker)
