"""The truck pipeline in the language of Streams: against its first form on data frames, and on Spark by topics."""

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.streams.example import PROGRAMS, example

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.pipelines.trucks.driver_table import from_bundled
from ottla.pipelines.trucks.transform import counts, dangerous, parsed, to_records, with_driver
from ottla.streams import TopologyTestDriver
from ottla.testing import EmbeddedBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]


def by_time(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.get("windowStart", row.get("timestamp")), row["driverId"]))


def test_both_forms_write_the_same(spark: "SparkSession") -> None:
    module = example("trucks")
    reports = list(module.on_the_road(2_000))
    # The last report closes all windows but its own.
    reports.append(next(one for one in reports if one.eventType != module.NORMAL)._replace(timestamp=1_800_000_000_000))
    with TopologyTestDriver(module.topology()) as driver:
        for key, name in module.names():
            driver.create_input_topic(module.DRIVERS, module.TEXT, module.NAME).pipe_input(key, name, 0)
        for report in reports:
            driver.create_input_topic(module.POSITIONS, module.TEXT, module.RAW).pipe_input(None, report.to_json(), 0)

        def written(topic: str) -> list[tuple[str, Row]]:
            values: Any = driver.create_output_topic(topic, module.TEXT, module.Serdes.json())
            found: list[tuple[str, Row]] = values.read_key_values_to_list()
            return found

        streams = {topic: written(topic) for topic in (module.DANGEROUS, module.DRIVEN, module.COUNTS)}
    rows = spark.createDataFrame([(report.to_json(),) for report in reports], "value binary")
    events = dangerous(parsed(rows)).cache()
    driven = with_driver(events, from_bundled(spark)).cache()
    frames = {module.DANGEROUS: (events, "truckId"), module.DRIVEN: (driven, "driverId")}
    frames[module.COUNTS] = (counts(driven), "driverId")
    for topic, (frame, key) in frames.items():
        records = to_records(frame, key).collect()
        wanted = [(record.key, json.loads(record.value)) for record in records]
        if topic == module.COUNTS:
            wanted = [one for one in wanted if one[1]["windowStart"] < 1_800_000_000_000]
        assert sorted(streams[topic], key=repr_of) == sorted(wanted, key=repr_of)


def repr_of(record: tuple[str, Row]) -> str:
    return f"{record[0]} {sorted(record[1].items())}"


@pytest.mark.long
def test_the_second_form_on_spark() -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java to run Spark")
    module = example("trucks")
    with EmbeddedBroker() as broker:
        command = [sys.executable, PROGRAMS / "trucks.py", broker.bootstrap_servers]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    wanted = [
        f"{one['windowStart']} {one['firstName']} {one['lastName']} {one['count']}"
        for one in by_time(module.in_memory(module.on_the_road(3_000)))
    ]
    assert done.stdout.splitlines()[-len(wanted) :] == wanted
