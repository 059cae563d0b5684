"""An application that counts on a Spark cluster: executors come and go, and state moves with the tasks.

A machine that is gone takes its state with it: both workers share a disk here, so the state is deleted with the worker.
In the end a reader of `read_committed` finds the counts 1, 2, 3 … n of each value once and in this order.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import kinds, start_server
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from tests.integration.pipelines.query_driver import QueryDriver
from tests.integration.pipelines.standalone_cluster import StandaloneCluster
from tests.integration.pipelines.test_streams_kill import check_counts, fill

pytestmark = pytest.mark.long

ROWS_PER_BATCH, BATCHES = 200, 12


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[StandaloneCluster]:
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    found = StandaloneCluster(tmp_path)
    yield found
    found.stop()


@pytest.fixture(params=kinds())
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    found = start_server(request.param, tmp_path / "server")
    yield found
    found.kill()


@pytest.fixture
def driver(server: Server, cluster: StandaloneCluster, tmp_path: Path) -> Iterator[QueryDriver]:
    arguments = (server.bootstrap, str(tmp_path / "query"), str(ROWS_PER_BATCH))
    name = "tests.integration.pipelines.streams_query"
    found = QueryDriver(tmp_path, *arguments, master=cluster.master, name=name)
    yield found
    found.end()


def test_a_cluster_counts_once_while_executors_workers_and_state_come_and_go(
    server: Server, cluster: StandaloneCluster, driver: QueryDriver, tmp_path: Path
) -> None:
    wanted = fill(server, BATCHES * ROWS_PER_BATCH)
    state = tmp_path / "query" / "state" / "counting" / "state"
    driver.start()
    driver.wait_for_batches(1)
    cluster.kill_executor()
    driver.wait_for_batches(1)
    cluster.kill_worker()
    shutil.rmtree(state, ignore_errors=True)
    driver.wait_for_batches(1)
    if driver.ended() is None:
        driver.kill()
        driver.start()
    driver.run_to_the_end()
    check_counts(server, wanted, driver)
