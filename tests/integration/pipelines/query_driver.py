"""A driver as a process that tests kill, such as `exactly_once_query`; what that copies, and what has to come out."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import confluent_kafka
import pyspark

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from tests.integration.pipelines.committed import committed_values, wait_for_markers
from tests.kafka.server import Server

SOURCE, TARGET = "source", "target"
_PROGRAM = "tests.integration.pipelines.exactly_once_query"
_PATIENCE_S = 300
_BATCH = re.compile(r"^batch \d+$", re.MULTILINE)
_ROOT = Path(__file__).parents[3]
_WORKER = ("pyspark.worker",)
"""How the command lines end of the processes that run tasks, and of the one that forks them."""


class QueryDriver:
    """The program that runs the query, started as often as need be."""

    def __init__(self, directory: Path, *arguments: str, master: str | None = None, name: str = _PROGRAM) -> None:
        """With a master it is started by spark-submit; `name` is the module of the program."""
        started_by = [sys.executable, "-m", name]
        self._environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(_ROOT)}
        if master is not None:
            program = Path(os.environ.get("SPARK_HOME", Path(pyspark.__file__).parent), "bin", "spark-submit")
            started_by = [str(program), "--master", master, str(_ROOT.joinpath(*name.split(".")).with_suffix(".py"))]
        self._command = [*started_by, *arguments]
        self._output = directory / "driver.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._sessions: list[int] = []

    def start(self) -> None:
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=self._environment,
            )
        self._sessions.append(self._process.pid)

    @property
    def batches(self) -> int:
        """How many lines about finished micro-batches it has printed, in all its lives."""
        return len(_BATCH.findall(self.output()))

    def output(self) -> str:
        return self._output.read_text(errors="replace") if self._output.exists() else ""

    def ended(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    def kill(self) -> None:
        """The driver and its JVM. Python workers notice by themselves, a little later, as on other machines."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_worker(self, chance: random.Random) -> None:
        """One of the processes that run tasks; none may be alive at this moment."""
        processes = {pid: found for session in self._sessions for pid, found in processes_of(session).items()}
        workers = [
            pid
            for pid, (parent, command) in processes.items()
            if command[-1:] == _WORKER and processes.get(parent, (0, ()))[1][-1:] == _WORKER
        ]
        if workers:
            os.kill(chance.choice(workers), signal.SIGKILL)

    def wait_for_batches(self, count: int) -> None:
        """Until so many more are finished, or all of them; starts it again if it ended, as a supervisor would."""
        wanted = self.batches + count
        deadline = time.monotonic() + _PATIENCE_S
        while self.batches < wanted and self.ended() != 0:
            assert time.monotonic() < deadline, self.output()
            if self.ended() is not None:
                self.start()
            time.sleep(0.05)

    def run_to_the_end(self) -> None:
        """Until all is copied."""
        deadline = time.monotonic() + _PATIENCE_S
        while (code := self.ended()) != 0:
            assert time.monotonic() < deadline, self.output()
            if code is not None:
                self.start()
            time.sleep(0.1)

    def end(self) -> None:
        """Whatever is left of it."""
        for session in self._sessions:
            for pid in processes_of(session):
                os.kill(pid, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()


def processes_of(session: int) -> dict[int, tuple[int, tuple[str, ...]]]:
    """The processes of a session: pid to parent and command line."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            stat = (path / "stat").read_text().rsplit(")", 1)[1].split()
            command = tuple((path / "cmdline").read_text().rstrip("\0").split("\0"))
        except OSError:
            continue
        if int(stat[3]) == session and stat[0] != "Z":
            found[int(path.name)] = (int(stat[1]), command)
    return found


def fill(server: Server, rows: int) -> list[bytes]:
    """Makes both topics and fills the source; the values."""
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topics([NewTopic(name, partitions=2, replication_factor=1) for name in (SOURCE, TARGET)])
    wanted = [b"%d" % number for number in range(rows)]
    producer = confluent_kafka.Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 5})
    for value in wanted:
        producer.produce(SOURCE, value, key=value)
        producer.poll(0)
    assert not producer.flush(60)
    return wanted


def check_copied_once(server: Server, driver: QueryDriver, wanted: list[bytes]) -> None:
    """A reader of `read_committed` sees every value once."""
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        wait_for_markers(admin, TARGET)
    found = Counter(committed_values(server.bootstrap, TARGET))
    assert not [value for value, times in found.items() if times > 1], f"twice or more:\n{driver.output()}"
    assert set(found) == set(wanted)
