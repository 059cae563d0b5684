"""kill -9 of the driver, a Python worker and the broker under a `KafkaStreams` that counts, with exact accounting.

In turns, six times; `OTTLA_TEST_STREAMS_KILLS=30` makes it a longer run. Exactly once a reader of `read_committed`
finds in the end the counts 1, 2, 3 … n of each value once and in this order; at least once it finds no gap. A second
instance that stands by takes over from one that is killed, with its state or from the changelogs.
"""

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.consumer.consumer import Consumer
from ottla.client.record import TopicPartition
from tests.clients.server import kinds, start_server
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from tests.integration.pipelines.committed import wait_for_markers
from tests.integration.pipelines.query_driver import QueryDriver
from tests.integration.pipelines.streams_query import SOURCE, TARGET
from tests.integration.streams.counting import unaccounted

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("OTTLA_TEST_STREAMS_KILLS", "6"))
ROWS_PER_BATCH = 200
BATCHES = 6 * KILLS
VICTIMS = ("driver", "worker", "broker")


@pytest.fixture(params=kinds())
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server of its own: it will be killed."""
    found = start_server(request.param, tmp_path / "server")
    yield found
    found.kill()


@pytest.fixture(params=["exactly_once_v2", "at_least_once"])
def guarantee(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def drivers(server: Server, guarantee: str, tmp_path: Path) -> Iterator[list[QueryDriver]]:
    """Two processes of the application on one machine, not started yet."""
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        arguments = (server.bootstrap, str(tmp_path / "query"), str(ROWS_PER_BATCH), guarantee)
        found.append(QueryDriver(tmp_path / name, *arguments, name="tests.integration.pipelines.streams_query"))
    yield found
    for one in found:
        one.end()


def lose_disk(directory: Path) -> None:
    """Another disk: the state comes from the changelogs."""
    shutil.rmtree(directory / "query" / "state" / "counting" / "state", ignore_errors=True)


def test_every_count_is_there_whatever_is_killed(
    server: Server, drivers: list[QueryDriver], guarantee: str, tmp_path: Path
) -> None:
    wanted = fill(server, BATCHES * ROWS_PER_BATCH)
    chance = random.Random(KILLS)
    driver = drivers[0]
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
            if turn % 2:
                lose_disk(tmp_path)
            driver.start()
    driver.run_to_the_end()
    check_counts(server, wanted, driver, guarantee)


def test_a_second_instance_takes_over_from_one_that_is_killed(
    server: Server, drivers: list[QueryDriver], guarantee: str, tmp_path: Path
) -> None:
    wanted = fill(server, BATCHES * ROWS_PER_BATCH)
    working, waiting = drivers
    working.start()
    for turn in range(KILLS // 2):
        working.wait_for_batches(1)
        waiting.start()
        time.sleep(1)
        if working.ended() is None:
            working.kill()
        if turn % 2:
            lose_disk(tmp_path)
        working, waiting = waiting, working
    working.run_to_the_end()
    check_counts(server, wanted, working, guarantee)


def fill(server: Server, rows: int) -> Counter[str]:
    """Fills the source; how often each value is in it."""
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topics([NewTopic(name, partitions=2, replication_factor=1) for name in (SOURCE, TARGET)])
    values = [f"value {number * number % 61}" for number in range(rows)]
    producer = confluent_kafka.Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 5})
    for number, value in enumerate(values):
        producer.produce(SOURCE, value, key=str(number))
        producer.poll(0)
    assert not producer.flush(60)
    return Counter(values)


def check_counts(server: Server, wanted: Counter[str], driver: QueryDriver, guarantee: str = "exactly_once_v2") -> None:
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        wait_for_markers(admin, TARGET)
    found: dict[str, list[int]] = {}
    with Consumer(bootstrap_servers=server.bootstrap, isolation_level="read_committed") as consumer:
        places = [TopicPartition(TARGET, number) for number in range(2)]
        consumer.assign(places)
        consumer.seek_to_beginning(places)
        ends = consumer.end_offsets(places)
        deadline = time.monotonic() + 60
        while any(consumer.position(place) < ends[place] for place in places):
            assert time.monotonic() < deadline
            for record in consumer.poll(0.5):
                assert record.key is not None
                assert record.value is not None
                found.setdefault(record.key.decode(), []).append(int.from_bytes(record.value, "big"))
    wrong = unaccounted(wanted.elements(), found, guarantee)
    assert not wrong, f"{wrong}\n{driver.output()}"
    assert found.keys() == wanted.keys()
