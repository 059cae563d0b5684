"""kill -9 of the driver, a Python worker and the broker in the middle of a query that copies a topic exactly once.

In turns, three times; `OTTLA_TEST_SINK_KILLS=30` makes it a long run. What dies is started again, as a supervisor
would, and in the end a reader of `read_committed` has to find every record once.
"""

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import kinds, start_server
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from tests.integration.pipelines.query_driver import SOURCE, TARGET, QueryDriver, check_copied_once, fill

KILLS = int(os.environ.get("OTTLA_TEST_SINK_KILLS", "3"))
ROWS_PER_BATCH = 200
BATCHES = 5 * KILLS
VICTIMS = ("worker", "broker", "driver")


@pytest.fixture(params=kinds())
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server of its own: it will be killed."""
    found = start_server(request.param, tmp_path / "server")
    yield found
    found.kill()


@pytest.fixture
def driver(server: Server, tmp_path: Path) -> Iterator[QueryDriver]:
    """The query, not started yet."""
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    found = QueryDriver(tmp_path, server.bootstrap, SOURCE, TARGET, str(tmp_path / "query"), str(ROWS_PER_BATCH))
    yield found
    found.end()


def test_every_record_is_copied_once_whatever_is_killed(server: Server, driver: QueryDriver) -> None:
    wanted = fill(server, BATCHES * ROWS_PER_BATCH)
    chance = random.Random(KILLS)
    driver.start()
    for turn in range(KILLS):
        driver.wait_for_batches(1)
        # Anywhere in a micro-batch, not just after one.
        time.sleep(chance.random())
        victim = VICTIMS[turn % len(VICTIMS)]
        if victim == "worker":
            driver.kill_worker(chance)
        elif victim == "broker":
            server.kill()
            server.start()
        elif driver.ended() is None:
            driver.kill()
            driver.start()
    driver.run_to_the_end()
    check_copied_once(server, driver, wanted)
