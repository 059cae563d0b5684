"""A control process, a runner and a pipeline: what is wanted happens, and nothing is lost or doubled by a kill."""

import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.pipelines.runner.spec import PipelineSpec, Wanted
from ottla.pipelines.runner.status import State
from tests.integration.pipelines.committed import committed_values, wait_for_markers
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.control_process import ControlRun
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java to run Spark")


@pytest.fixture
def control(broker: Server, tmp_path: Path) -> Iterator[ControlRun]:
    """No control process yet; those of the test end with it."""
    found = ControlRun(broker.bootstrap, tmp_path / "pipes", "--master", "local[2,4]")
    yield found
    found.stop()


def produce(broker: Server, topic: str, numbers: range) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 5})
    for number in numbers:
        producer.produce(topic, b"%d" % number, key=b"%d" % number)
        producer.poll(0)
    assert not producer.flush(60)


def arrived(broker: Server, topic: str) -> Counter[int]:
    return Counter(int(value) for value in committed_values(broker.bootstrap, topic) if value is not None)


@needs_java
def test_a_runner_that_is_killed_loses_and_doubles_nothing(
    control: ControlRun, broker: Server, topic: CreateTopic, admin: Admin
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    definition = {"from": source, "to": target, "where": "cast(value as string) != '7'", "max.offsets.per.trigger": 100}
    control.start()
    produce(broker, source, range(2_000))
    control.write(PipelineSpec(name="copy", kind="copy", definition=definition))
    control.wait_until(lambda: bool(arrived(broker, target)))
    [first] = control.runners().items()
    control.kill_process(first[1])
    produce(broker, source, range(2_000, 2_500))
    wanted = Counter(set(range(2_500)) - {7})
    control.wait_until(lambda: len(arrived(broker, target)) == len(wanted))
    assert list(control.runners()) != [first[0]]
    control.change("copy", lambda spec: replace(spec, wanted=Wanted.PAUSED))
    control.wait_until(lambda: control.state("copy") is State.PAUSED)
    wait_for_markers(admin, target)
    assert arrived(broker, target) == wanted, control.words()
    control.delete("copy")
    control.wait_until(lambda: not (control.data / "checkpoints" / "copy" / "1").exists())
    assert control.runners(), "the runner lives on, and its query's checkpoint is gone all the same"


def test_without_java_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ottla.cli.main", "pipelines", "run", "-b", "127.0.0.1:1", "--data", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)}, check=False)
    assert found.returncode == 1
    [line] = [line for line in found.stderr.splitlines() + found.stdout.splitlines() if line.strip()]
    assert "Spark needs Java 17 or newer and there is none on this machine" in line


@needs_java
def test_a_broker_that_is_just_starting_is_waited_for(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ottla.cli.main", "pipelines", "run", "-b", "127.0.0.1:1", "--data", str(tmp_path)]
    found = subprocess.run([*command, "--wait", "5"], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "Nothing listens at 127.0.0.1:1 yet. Waiting up to 5 s for a broker" in found.stderr


@pytest.mark.long
@needs_java
def test_kills_of_runner_and_control_process_in_turn(
    control: ControlRun, broker: Server, topic: CreateTopic, admin: Admin
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    processes = [control.start(), control.start()]
    control.write(PipelineSpec(name="rounds", kind="copy", definition={"from": source, "to": target}))
    rows = 0
    for turn in range(6):
        produce(broker, source, range(rows, rows + 300))
        rows += 300
        if turn % 2:
            victim = processes.pop(0)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            processes.append(control.start())
        else:
            control.wait_until(lambda: bool(control.runners()))
            time.sleep(turn)
            control.kill_runner()
    control.wait_until(lambda: len(arrived(broker, target)) == rows)
    control.change("rounds", lambda spec: replace(spec, wanted=Wanted.STOPPED))
    control.wait_until(lambda: control.state("rounds") is State.STOPPED)
    wait_for_markers(admin, target)
    assert arrived(broker, target) == Counter(range(rows)), control.words()
    checkpoint = control.data / "checkpoints" / "rounds"
    assert (checkpoint / "1").exists()
    control.delete("rounds")
    control.wait_until(lambda: "rounds" not in (control.entries() or {}) and not (checkpoint / "1").exists())


@pytest.mark.long
@needs_java
def test_what_can_never_work_is_given_up_with_its_reason_and_others_go_on(
    control: ControlRun, broker: Server, topic: CreateTopic
) -> None:
    source, target = topic(), topic()
    control.start()
    good = {"from": source, "to": target}
    control.write(PipelineSpec(name="bad", kind="copy", definition={**good, "select": {"value": "no_such_column"}}))
    control.write(PipelineSpec(name="unknown", kind="nonsense"))
    control.write(PipelineSpec(name="good", kind="copy", definition=good))
    produce(broker, source, range(10))
    control.wait_until(lambda: len(arrived(broker, target)) == 10)
    for name, words in (("bad", "no_such_column"), ("unknown", "there is no kind of pipeline 'nonsense'")):
        control.wait_until(lambda name=name: control.state(name) is State.FAILED)  # type: ignore[misc]
        status = control.entry(name).status
        assert status is not None
        assert words in (status.trace or "")
    control.change("bad", lambda spec: replace(spec, definition=good, version=spec.version + 1, checkpoint="bad/2"))
    control.wait_until(lambda: control.state("bad") is State.RUNNING)
