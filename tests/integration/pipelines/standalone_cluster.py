"""A Spark cluster on this machine, a master and two workers, whose parts tests kill."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyspark

from tests.integration.pipelines.conftest import use_lean_home
from tests.integration.pipelines.query_driver import processes_of
from tests.kafka.port import free_port

_PATIENCE_S: Final = 240.0
_EXECUTOR: Final = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


class StandaloneCluster:
    """A master and two workers of one core each; executors are the workers' children."""

    def __init__(self, directory: Path) -> None:
        use_lean_home()
        self.master = f"spark://127.0.0.1:{free_port()}"
        self._directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []
        host, port = self.master.removeprefix("spark://").split(":")
        self._start("master", "master.Master", "--host", host, "--port", port)
        self._wait(lambda: "I have been elected leader" in self.output("master"))
        for name in ("worker-1", "worker-2"):
            place = ("--work-dir", str(directory / name))
            self._start(name, "worker.Worker", "--host", host, "--cores", "1", "--memory", "1g", *place, self.master)
        self._wait(lambda: self.output("master").count("Registering worker") == 2)

    def _start(self, name: str, kind: str, *arguments: str) -> None:
        program = Path(os.environ.get("SPARK_HOME", Path(pyspark.__file__).parent), "bin", "spark-class")
        environment = os.environ | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false",
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self._directory / f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    [program, f"org.apache.spark.deploy.{kind}", *arguments, "--webui-port", "0"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    start_new_session=True, env=environment,
                )
            )  # fmt: skip

    def output(self, name: str) -> str:
        """What one of them has said."""
        return (self._directory / f"{name}.log").read_text(errors="replace")

    def executors(self) -> list[int]:
        """The processes that run tasks, of both workers."""
        found = {pid: command for process in self._processes for pid, (_, command) in processes_of(process.pid).items()}
        return [pid for pid, command in found.items() if _EXECUTOR in command]

    def kill_executor(self) -> None:
        """One of them; its worker starts another."""
        self._wait(lambda: bool(self.executors()))
        os.kill(self.executors()[0], signal.SIGKILL)

    def kill_worker(self) -> None:
        """A worker with its executor, as if its machine had gone."""
        process = self._processes.pop()
        for pid in processes_of(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """All of it."""
        while self._processes:
            self.kill_worker()

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, self.output("master")
            time.sleep(0.1)
