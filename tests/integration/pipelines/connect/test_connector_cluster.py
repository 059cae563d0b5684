"""A connector on a Spark cluster of a master and two workers on this machine, through the death of executors."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.pipelines.runner.spec import PipelineSpec
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.connect.test_connector_spark import append, arrived, definition, parts
from tests.integration.pipelines.control_process import ControlRun
from tests.integration.pipelines.test_standalone_cluster import StandaloneCluster
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
pytestmark = pytest.mark.long


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StandaloneCluster]:
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    found = StandaloneCluster(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def control(broker: Server, cluster: StandaloneCluster, tmp_path: Path) -> Iterator[ControlRun]:
    settings = ("--spark", "spark.executor.memory=512m", "--spark", "spark.executor.cores=1")
    found = ControlRun(broker.bootstrap, tmp_path / "pipes", "--master", cluster.master, *settings)
    yield found
    found.stop()


def test_an_executor_that_is_killed_loses_and_doubles_nothing_of_an_exactly_once_source(
    control: ControlRun, cluster: StandaloneCluster, broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    target, file = topic(partitions=2), tmp_path / "file"
    append(file, range(500))
    control.start()
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": target, "batch.size": "50"}
    made = definition(source, exactly_once_source_support="enabled")
    control.write(PipelineSpec(name="spread", kind="connect", definition=made))
    control.wait_until(lambda: arrived(broker, target).total() >= 500)
    rows = 500
    for _ in range(3):
        append(file, range(rows, rows + 500))
        rows += 500
        control.wait_until(lambda: [part["state"] for part in parts(control, "spread")] == ["RUNNING"])
        for executor in cluster.executors():
            # The task is in one of them; its process ends with it.
            control.kill_process(executor)
        time.sleep(1)
    wanted = Counter(str(number) for number in range(rows))
    control.wait_until(lambda: len(arrived(broker, target)) == rows)
    assert arrived(broker, target) == wanted, control.words()
