"""One local Spark and one server for all tests of pipelines; topics and records for each of them.

`OTTLA_TEST_PEER=1` runs the tests on Apache Kafka, too, `OTTLA_TEST_PEER=only` on it alone.
"""

import itertools
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.spark_home import lean_spark_home
from ottla.protocol.errors import TopicAlreadyExistsError
from tests.clients.server import OLD_RECORDS_STAY, kinds, start_server
from tests.kafka.server import Server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = itertools.count(1)

SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Tests are short: compile little and collect simply.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def use_lean_home() -> None:
    """Python processes of Spark that start fast: on a busy machine ten seconds are not much."""
    home = lean_spark_home()
    if home is not None:
        os.environ["SPARK_HOME"] = str(home)


CreateTopic = Callable[..., str]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A session on two cores of this machine, with retries of tasks."""
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
    # Spark looks for data sources with this interpreter.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    use_lean_home()
    builder = sql.SparkSession.builder.master("local[2,2]").appName("ottla-tests")
    settings = {
        **SPARK_SETTINGS,
        "spark.pyspark.python": sys.executable,
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.local.dir": str(tmp_path_factory.mktemp("local")),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session", params=kinds())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in a process of its own; `bootstrap` is what clients connect to."""
    # Compaction is looked at soon, not every 15 seconds.
    settings = {"log_cleaner_backoff_ms": "100", **OLD_RECORDS_STAY}
    server = start_server(request.param, tmp_path_factory.mktemp("server") / request.param, **settings)
    yield server
    # Nobody needs its data any more.
    server.kill()


@pytest.fixture(scope="session")
def admin(broker: Server) -> Iterator[Admin]:
    """An admin client of the server."""
    with Admin(bootstrap_servers=broker.bootstrap) as client:
        yield client


@pytest.fixture
def topic(admin: Admin, request: pytest.FixtureRequest) -> CreateTopic:
    """Makes a topic: `topic(partitions=3)` returns its name."""

    def create(*, partitions: int = 1, name: str | None = None, configs: dict[str, str] | None = None) -> str:
        name = name or f"{request.node.originalname}-{next(_numbers)}"
        admin.create_topics([NewTopic(name, partitions=partitions, replication_factor=1, configs=configs or {})])
        return name

    return create


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """Where a stream of this test keeps its progress."""
    return str(tmp_path / "checkpoint")


def create_again(topic: CreateTopic, name: str) -> None:
    """A topic of the same name as soon as the old one is gone."""
    for _ in range(200):
        try:
            topic(name=name)
        except TopicAlreadyExistsError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"{name} is still there")
