"""The truck pipeline on a real Spark and a real server, against the same worked out in plain Python from one seed."""

import importlib.util
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.trucks.driver_table import Driver, bundled_drivers, from_bundled, from_postgres, from_topic
from ottla.pipelines.trucks.generator import TruckFleet
from ottla.pipelines.trucks.position import NORMAL, TruckPosition
from tests.integration.pipelines import truck_oracle
from tests.integration.pipelines.committed import committed_values, wait_for_markers
from tests.integration.postgres import find_program, postgres_server
from tests.kafka.port import free_port
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.pipelines.trucks.pipeline import COUNTS, DANGEROUS, DRIVEN_TOPIC, POSITIONS, TOPICS, TruckPipeline
from ottla.pipelines.trucks.transform import counts, dangerous, parsed, to_records, with_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START_MS = 1_700_000_000_000
FLEET = list(itertools.islice(TruckFleet(seed=5).positions(START_MS, per_second=100), 3_000))
NOISE = [b"no JSON", b"{}", b'{"timestamp":"soon"}', None]


def rows_of(positions: Iterable[TruckPosition]) -> list[dict[str, Any]]:
    return [position._asdict() for position in positions]


def test_what_comes_out_of_the_steps_is_what_plain_python_says(spark: "SparkSession") -> None:
    values = [(found.to_json(),) for found in FLEET] + [(value,) for value in NOISE]
    records = spark.createDataFrame(values, "value binary")
    driven = with_driver(dangerous(parsed(records)), from_bundled(spark))
    rows = [json.loads(row.value) for row in to_records(driven, "driverId").collect()]
    events = truck_oracle.dangerous(rows_of(FLEET))
    assert truck_oracle.in_any_order(rows) == truck_oracle.in_any_order(
        truck_oracle.with_driver(events, bundled_drivers())
    )
    counted = [json.loads(row.value) for row in to_records(counts(driven), "driverId").collect()]
    assert {(row["windowStart"], row["driverId"]): row["count"] for row in counted} == truck_oracle.counts(events)
    assert all(row["windowEnd"] == row["windowStart"] + truck_oracle.WINDOW_MS for row in counted)


def test_an_unknown_driver_stays_without_a_name(spark: "SparkSession") -> None:
    stranger = next(found for found in FLEET if found.eventType != NORMAL)._replace(driverId=999)
    records = spark.createDataFrame([(stranger.to_json(),)], "value binary")
    [row] = with_driver(dangerous(parsed(records)), from_bundled(spark)).collect()
    assert (row.driverId, row.firstName, row.lastName) == (999, None, None)


def test_a_record_has_its_key_as_text_and_its_row_as_json(spark: "SparkSession") -> None:
    records = spark.createDataFrame([(FLEET[0].to_json(),)], "value binary")
    [row] = to_records(parsed(records), "truckId").collect()
    assert row.key == str(FLEET[0].truckId)
    assert json.loads(row.value) == FLEET[0]._asdict()


class Trucks:
    """The whole pipeline on topics of its own, run to the end of what is there."""

    def __init__(self, spark: "SparkSession", broker: Server, checkpoints: Path) -> None:
        self._spark = spark
        self._bootstrap = broker.bootstrap
        self._pipeline = TruckPipeline(
            bootstrap=broker.bootstrap, checkpoints=checkpoints, trigger={"availableNow": True}, exactly_once=True
        )

    def send(self, values: Iterable[bytes | None]) -> None:
        producer = confluent_kafka.Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 5})
        for value in values:
            producer.produce(POSITIONS, value)
        assert not producer.flush(60)

    def run(self, drivers: Any) -> None:
        for query in self._pipeline.queries(self._spark, drivers).values():
            query.start()
            assert query.query.awaitTermination(300)
            assert query.query.exception() is None

    def rows(self, topic: str) -> list[dict[str, Any]]:
        with Admin(bootstrap_servers=self._bootstrap) as admin:
            wait_for_markers(admin, topic)
        return [json.loads(value) for value in committed_values(self._bootstrap, topic) if value is not None]


@pytest.fixture
def trucks(spark: "SparkSession", broker: Server, admin: Admin, tmp_path: Path) -> Iterator[Trucks]:
    admin.create_topics([NewTopic(name, partitions=2, replication_factor=1) for name in TOPICS])
    yield Trucks(spark, broker, tmp_path)
    admin.delete_topics(TOPICS)


@pytest.fixture
def database() -> Iterator[str]:
    initdb, postgres = find_program("initdb"), find_program("postgres")
    if initdb is None or postgres is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip("needs PostgreSQL and psycopg: scripts/install-debian-packages, pip install -e '.[postgres]'")
    with postgres_server(initdb, postgres) as address:
        yield address


def test_from_positions_to_counts_with_drivers_from_postgres(
    spark: "SparkSession", trucks: Trucks, database: str
) -> None:
    import psycopg

    drivers = [Driver(driver.driverId, driver.lastName, driver.firstName) for driver in bundled_drivers()]
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE driver (id int PRIMARY KEY, first_name text, last_name text)")
        connection.cursor().executemany("INSERT INTO driver VALUES (%s, %s, %s)", drivers)
    half = len(FLEET) // 2
    trucks.send([*(position.to_json() for position in FLEET[:half]), *NOISE])
    trucks.run(from_postgres(spark, database))
    # What comes too late for its window is joined, and not counted; the last one closes the windows before it.
    event = next(position for position in FLEET if position.eventType != NORMAL)
    late, last = event._replace(timestamp=START_MS - 60_000), event._replace(timestamp=START_MS + 600_000)
    trucks.send(position.to_json() for position in [*FLEET[half:], late, last])
    trucks.run(from_postgres(spark, database))
    trucks.run(from_postgres(spark, database))

    events = truck_oracle.dangerous(rows_of([*FLEET, late, last]))
    assert truck_oracle.in_any_order(trucks.rows(DANGEROUS)) == truck_oracle.in_any_order(events)
    assert truck_oracle.in_any_order(trucks.rows(DRIVEN_TOPIC)) == truck_oracle.in_any_order(
        truck_oracle.with_driver(events, drivers)
    )
    on_time = truck_oracle.counts(truck_oracle.dangerous(rows_of(FLEET)))
    counted = trucks.rows(COUNTS)
    assert len(counted) == len(on_time)
    assert {(row["windowStart"], row["driverId"]): row["count"] for row in counted} == on_time


def test_drivers_from_a_compacted_topic(spark: "SparkSession", broker: Server, admin: Admin) -> None:
    admin.create_topics(
        [NewTopic("drivers", partitions=2, replication_factor=1, configs={"cleanup.policy": "compact"})]
    )
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    drivers = list(bundled_drivers())
    for driver in [drivers[0]._replace(firstName="Old"), *drivers]:
        producer.produce("drivers", driver.to_json(), key=str(driver.driverId))
    producer.produce("drivers", None, key=str(drivers[1].driverId))
    assert not producer.flush(60)
    found = [Driver(*row) for row in from_topic(spark, broker.bootstrap, "drivers").collect()]
    assert sorted(found) == sorted([drivers[0], *drivers[2:]])


def test_a_postgres_that_is_not_there_is_said_in_a_sentence(spark: "SparkSession") -> None:
    with pytest.raises(OttlaError, match=r"^the drivers can't be read from .* of PostgreSQL: .*refused"):
        from_postgres(spark, f"postgresql://somebody:secret@127.0.0.1:{free_port()}/trucks")
