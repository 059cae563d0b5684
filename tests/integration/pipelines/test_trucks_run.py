"""`ottla trucks` as a user runs it: real processes, stopped by Ctrl-C and started again, and what is in the topics."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.base.errors import OttlaError
from ottla.pipelines.trucks.broker_process import BrokerProcess
from ottla.pipelines.trucks.driver_table import bundled_drivers
from ottla.pipelines.trucks.generator import TruckFleet
from ottla.pipelines.trucks.pipeline import COUNTS, DANGEROUS, DRIVEN_TOPIC, POSITIONS
from tests.integration.pipelines import truck_oracle
from tests.integration.pipelines.committed import committed_values
from tests.kafka.port import free_port

SEED, TRUCKS = 5, 7
_PATIENCE_S = 300.0
_CAME_THROUGH = re.compile(rf"{DRIVEN_TOPIC} [1-9]")


class TruckRun:
    """The command, with its output in a file, as in a script."""

    def __init__(self, data: Path, *more: str) -> None:
        self.port = free_port()
        self._output = data.with_suffix(".out")
        command = [sys.executable, "-m", "ottla.cli.main", "trucks", "--data", str(data), "--trucks", str(TRUCKS)]
        command += ["--listen", f"127.0.0.1:{self.port}", "--seed", str(SEED), "--rate", "50", *more]
        with self._output.open("wb") as output:
            # A session of its own, as a terminal gives it: Ctrl-C goes to all of its processes.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def wait_for(self, pattern: re.Pattern[str]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while pattern.search(self.output()) is None:
            assert self._process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.1)

    def interrupt(self) -> None:
        os.killpg(self._process.pid, signal.SIGINT)

    def kill(self) -> None:
        """kill -9 of the command alone: what it has started is to go by itself."""
        self._process.kill()
        self._process.wait()

    def ended(self) -> int:
        return self._process.wait(_PATIENCE_S)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    yield tmp_path / "trucks"
    for pid in _processes(tmp_path):
        os.kill(pid, signal.SIGKILL)


def _processes(place: Path) -> list[int]:
    """Those that have the place on their command line or in their environment, and ourselves not."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
            is_zombie = (path / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            continue
        if str(place).encode() in words and not is_zombie and int(path.name) != os.getpid():
            found.append(int(path.name))
    return found


def _wait_until_all_is_gone(place: Path) -> None:
    deadline = time.monotonic() + 60
    while left := _processes(place):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def test_runs_go_on_where_the_last_one_stopped(data: Path) -> None:
    first = TruckRun(data)
    first.wait_for(_CAME_THROUGH)
    first.interrupt()
    assert first.ended() == 0, first.output()
    assert "stopping" in first.output()
    _wait_until_all_is_gone(data)

    second = TruckRun(data, "--seconds", "5")
    assert second.ended() == 0, second.output()
    assert "Traceback" not in second.output()
    assert re.search(r"[1-9]\d* positions sent in \d+ s", second.output())
    assert "most dangerous: " in second.output()
    _wait_until_all_is_gone(data)
    _check_topics(data)


def _check_topics(data: Path) -> None:
    with BrokerProcess(data, "127.0.0.1", free_port()) as broker:
        broker.start()
        found = {
            topic: [json.loads(value) for value in committed_values(broker.bootstrap, topic) if value is not None]
            for topic in (POSITIONS, DANGEROUS, DRIVEN_TOPIC, COUNTS)
        }
    positions = found[POSITIONS]
    fleet = itertools.islice(TruckFleet(seed=SEED, trucks=TRUCKS).positions(0, per_second=1), len(positions))
    expected: list[dict[str, Any]] = [{**position._asdict(), "timestamp": 0} for position in fleet]
    assert truck_oracle.in_any_order({**row, "timestamp": 0} for row in positions) == truck_oracle.in_any_order(
        expected
    ), "the second run went on with the trucks of the first"
    events = truck_oracle.dangerous(positions)
    assert truck_oracle.in_any_order(found[DANGEROUS]) == truck_oracle.in_any_order(events)
    driven = truck_oracle.with_driver(events, bundled_drivers())
    assert truck_oracle.in_any_order(found[DRIVEN_TOPIC]) == truck_oracle.in_any_order(driven)
    # Which windows are closed depends on when the run ended; those that are were closed once, and counted no more than
    # there was (less, where a record came later than the watermark allows).
    counted = Counter((row["windowStart"], row["driverId"]) for row in found[COUNTS])
    assert set(counted.values()) <= {1}
    windows = truck_oracle.counts(events)
    assert all(0 < row["count"] <= windows[row["windowStart"], row["driverId"]] for row in found[COUNTS])


def test_a_run_that_is_killed_leaves_nothing_behind(data: Path) -> None:
    run = TruckRun(data)
    run.wait_for(re.compile("starting Spark"))
    run.kill()
    _wait_until_all_is_gone(data)


def test_a_port_that_somebody_has_is_said_before_anything_is_started(data: Path) -> None:
    with BrokerProcess(data / "other", "127.0.0.1", free_port()) as broker:
        broker.start()
        command = [sys.executable, "-m", "ottla.cli.main", "trucks", "--data", str(data), "--listen", broker.bootstrap]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    assert done.returncode == 1
    assert f"something listens on {broker.bootstrap} already" in done.stderr
    assert "Spark" not in done.stdout


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--listen", "nowhere", "--listen nowhere: expected HOST:PORT"),
        ("--data", "/proc/no/place", "/proc/no/place: "),
        ("--trucks", "0", "--trucks 0: has to be more than 0"),
        ("--rate", "-1", "--rate -1.0: has to be more than 0"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(data: Path, option: str, value: str, said: str) -> None:
    options = {"--data": str(data), "--listen": f"127.0.0.1:{free_port()}", option: value}
    command = [sys.executable, "-m", "ottla.cli.main", "trucks", *itertools.chain(*options.items())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broker_that_is_killed_is_said_in_a_sentence(data: Path) -> None:
    with BrokerProcess(data, "127.0.0.1", free_port()) as broker:
        broker.start()
        broker.check()
        for pid in _processes(data):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(OttlaError, match=r"the broker ended in the middle \(SIGKILL\); .*The next run goes on"):
            _check_until_it_raises(broker)


def _check_until_it_raises(broker: BrokerProcess) -> None:
    for _ in range(1000):
        broker.check()
        time.sleep(0.01)


def test_a_java_that_is_killed_is_said_in_a_sentence(data: Path) -> None:
    """As the system does it when memory runs out."""
    run = TruckRun(data)
    run.wait_for(re.compile("starting Spark"))
    deadline = time.monotonic() + _PATIENCE_S
    while not (found := [pid for pid in _processes(data) if _name(pid) == "java"]):
        assert time.monotonic() < deadline, run.output()
        time.sleep(0.05)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    assert run.ended() == 1, run.output()
    assert "ottla: Spark's Java process ended" in run.output()
    assert "Traceback" not in run.output()
    _wait_until_all_is_gone(data)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
