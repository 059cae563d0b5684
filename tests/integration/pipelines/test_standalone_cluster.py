"""A Spark cluster on this machine, a master and two workers: the same query there, through the death of an executor.

Executors of a cluster outlive a driver's failure and are replaced when they die, by other processes with other Pythons;
tasks are tried again elsewhere. The copy has to be exact all the same.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import kinds, start_server
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from tests.integration.pipelines.query_driver import SOURCE, TARGET, QueryDriver, check_copied_once, fill
from tests.integration.pipelines.standalone_cluster import StandaloneCluster

pytestmark = pytest.mark.long

ROWS_PER_BATCH, BATCHES = 200, 8


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
    arguments = (server.bootstrap, SOURCE, TARGET, str(tmp_path / "query"), str(ROWS_PER_BATCH))
    found = QueryDriver(tmp_path, *arguments, master=cluster.master)
    yield found
    found.end()


def test_a_cluster_copies_once_through_the_death_of_an_executor_a_worker_and_the_driver(
    server: Server, cluster: StandaloneCluster, driver: QueryDriver
) -> None:
    wanted = fill(server, BATCHES * ROWS_PER_BATCH)
    driver.start()
    driver.wait_for_batches(1)
    assert re.search(r"Registered app exactly-once", cluster.output("master"))
    cluster.kill_executor()
    driver.wait_for_batches(1)
    cluster.kill_worker()
    driver.wait_for_batches(1)
    if driver.ended() is None:
        driver.kill()
        driver.start()
    driver.run_to_the_end()
    check_copied_once(server, driver, wanted)
