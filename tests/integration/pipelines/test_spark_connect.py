"""Spark Connect: a server as `start-connect-server.sh` starts it, and a client in a process without any Spark."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import kinds, start_server
from tests.kafka.port import free_port
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
pytest.importorskip("grpc", reason="needs the client of Spark Connect: pip install 'pyspark[connect]'")

import pyspark

from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import SPARK_SETTINGS, use_lean_home
from tests.integration.pipelines.query_driver import SOURCE, TARGET, fill, processes_of

pytestmark = pytest.mark.skipif("OTTLA_TEST_SPARK_LARGE" not in os.environ, reason="one more Spark: make spark")
_ROOT = Path(__file__).parents[3]
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_PATIENCE_S = 240.0


@pytest.fixture(params=kinds())
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    found = start_server(request.param, tmp_path / "server")
    yield found
    found.kill()


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[str]:
    """The address of a Connect server on this machine."""
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    use_lean_home()
    port = free_port()
    settings = {
        **SPARK_SETTINGS,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.local.dir": str(tmp_path / "local"),
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }
    program = Path(os.environ.get("SPARK_HOME", Path(pyspark.__file__).parent), "bin", "spark-submit")
    told = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    log = tmp_path / "connect.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "--master", "local[2,4]", *told, "--class", _CLASS, "spark-internal"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
    deadline = time.monotonic() + _PATIENCE_S
    while "Spark Connect server started" not in log.read_text(errors="replace"):
        assert process.poll() is None, log.read_text(errors="replace")
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.1)
    yield f"sc://127.0.0.1:{port}"
    for pid in processes_of(process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()


def test_a_client_reads_and_copies_a_topic_once(server: Server, connect: str, tmp_path: Path) -> None:
    wanted = fill(server, 1000)
    name = "tests.integration.pipelines.connect_query"
    arguments = (connect, server.bootstrap, SOURCE, TARGET, str(tmp_path / "checkpoint"))
    # Without a Java in its path: whatever runs, runs in the server.
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=_ROOT, env={**environment, "PATH": ""},
        capture_output=True, text=True, timeout=_PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "type pyspark.sql.connect.session",
        "rows 1000",
        "refused option 'minPartitions': expected a whole number, not 'many'",
        "copied 1001",
    ]
    assert sorted(filter(None, committed_values(server.bootstrap, TARGET))) == sorted([*wanted, b"as a batch"])
