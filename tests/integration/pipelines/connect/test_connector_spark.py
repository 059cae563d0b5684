"""Connectors as pipelines of a runner: Spark gives the slots, and nothing is lost by a kill of anything."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ottla.pipelines.runner.spec import PipelineSpec, Wanted
from ottla.pipelines.runner.status import State
from tests.integration.pipelines.committed import committed_values
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.task_host import STRING
from tests.integration.pipelines.control_process import ControlRun
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java to run Spark")


@pytest.fixture
def control(broker: Server, tmp_path: Path) -> Iterator[ControlRun]:
    """No control process yet; those of the test end with it."""
    found = ControlRun(broker.bootstrap, tmp_path / "pipes", "--master", "local[16,4]")
    yield found
    found.stop()


def definition(config: dict[str, str], **worker: str) -> dict[str, Any]:
    properties = {"group.id": "workers", "offset.storage.topic": "connect-offsets", "offset.storage.partitions": "1"}
    more = {name.replace("_", "."): value for name, value in worker.items()}
    converters = {"key.converter": STRING, "value.converter": STRING, "offset.flush.interval.ms": "200"}
    return {"config": config, "worker": {**properties, **converters, **more}}


def append(file: Path, numbers: range) -> None:
    with file.open("a") as lines:
        lines.write("".join(f"{number}\n" for number in numbers))


def lines(file: Path) -> Counter[str]:
    return Counter(file.read_text().splitlines()) if file.exists() else Counter()


@needs_java
def test_a_file_goes_into_a_topic_and_the_status_tells_of_the_task(
    control: ControlRun, broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    target, file = topic(partitions=2), tmp_path / "file"
    append(file, range(3_000))
    control.start()
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": target}
    control.write(PipelineSpec(name="out", kind="connect", definition=definition(source)))
    wanted = Counter(str(number) for number in range(3_000))
    control.wait_until(lambda: arrived(broker, target) == wanted)
    control.wait_until(lambda: [part["state"] for part in parts(control, "out")] == ["RUNNING"])
    control.wait_until(lambda: parts(control, "out")[0]["topics"] == [target])


@pytest.mark.long
@needs_java
def test_kills_of_runner_workers_and_broker_lose_and_double_nothing_of_an_exactly_once_source(
    control: ControlRun, broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    between, file, copy = topic(partitions=2), tmp_path / "file", tmp_path / "copy"
    append(file, range(500))
    control.start()
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": between, "batch.size": "50"}
    sink = {"connector.class": "FileStreamSink", "topics": between, "file": str(copy), "tasks.max": "2",
            "consumer.override.isolation.level": "read_committed"}  # fmt: skip
    made = definition(source, exactly_once_source_support="enabled")
    control.write(PipelineSpec(name="source", kind="connect", definition=made))
    control.write(PipelineSpec(name="sink", kind="connect", definition=definition(sink)))
    control.wait_until(lambda: lines(copy).total() >= 500)
    pause_and_resume(control, "source", "sink")
    rows = 500
    for turn in range(8):
        append(file, range(rows, rows + 500))
        rows += 500
        time.sleep(turn % 3)
        if turn % 4 == 3:
            broker.kill()
            broker.start()
        else:
            control.wait_until(lambda: bool(control.runners()))
            control.kill_runner()
    control.wait_until(lambda: len(lines(copy)) >= rows)
    wanted = Counter(str(number) for number in range(rows))
    # The sink may put records again behind its last commit; none is missing.
    assert set(lines(copy)) == set(wanted), control.words()
    assert arrived(broker, between) == wanted, control.words()


def arrived(broker: Server, topic: str) -> Counter[str]:
    return Counter(value.decode() for value in committed_values(broker.bootstrap, topic) if value is not None)


def pause_and_resume(control: ControlRun, *names: str) -> None:
    for name in names:
        control.change(name, lambda spec: replace(spec, wanted=Wanted.PAUSED))
    for name in names:
        control.wait_until(lambda name=name: control.state(name) is State.PAUSED)  # type: ignore[misc]
        control.change(name, lambda spec: replace(spec, wanted=Wanted.RUNNING))


def parts(control: ControlRun, name: str) -> list[dict[str, Any]]:
    status = control.entry(name).status
    return [] if status is None else [dict(part) for part in status.parts]
