"""Recorded topologies of Kafka Streams on Spark, with topics and a real server: the outputs are the recorded ones."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ottla.client.admin.blocking_admin import Admin
from tests.integration.pipelines.streams_case import CombinedCases, feed, make_topics, merges, read, wait_until_done
from tests.kafka.server import Server
from tests.unit.streams import scenario
from tests.unit.streams.test_recorded import CASES, RECORDED, assert_no_final_result_is_lost

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from pyspark import cloudpickle

from ottla.pipelines.streams.kafka_streams import KafkaStreams
from ottla.streams.host.run_state import RunState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What moves the clock is for the driver alone.
RUNNABLE = [case for case in CASES if not any(isinstance(one, dict) for one in case["input"])]
FEW = [case for case in RUNNABLE if not merges(case)][::16]


def test_a_few_give_what_kafka_streams_gave(
    spark: "SparkSession", broker: Server, admin: Admin, tmp_path: Path
) -> None:
    assert len(FEW) >= 10
    run_and_compare(CombinedCases(FEW, "few"), (spark, broker, admin), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_all_give_what_kafka_streams_gave(
    part: int, spark: "SparkSession", broker: Server, admin: Admin, tmp_path: Path
) -> None:
    run_and_compare(CombinedCases(RUNNABLE[part::4], f"part{part}-"), (spark, broker, admin), tmp_path)


def run_and_compare(combined: CombinedCases, at: "tuple[SparkSession, Server, Admin]", tmp_path: Path) -> None:
    spark, broker, admin = at
    # Spark's workers do not find the tests.
    cloudpickle.register_pickle_by_value(scenario)
    application_id = f"recorded-{tmp_path.name}"
    names = combined.topics()
    make_topics(admin, names)
    topology = combined.topology()
    config = {
        "application.id": application_id,
        "bootstrap.servers": broker.bootstrap,
        "state.dir": str(tmp_path),
        "processing.guarantee": "exactly_once_v2",
        "replication.factor": "1",
    }
    streams = KafkaStreams(topology, config, spark=spark)
    streams.start()
    try:
        assert streams.wait_for(RunState.RUNNING, 120), streams.failure
        application = streams.application
        for records in combined.rounds():
            feed(broker.bootstrap, records)
            wait_until_done(admin, application_id, application.inputs, lambda: streams.failure)
        given = read(broker.bootstrap, combined)
    finally:
        streams.close()
        admin.delete_topics([*names, *application_topics(admin, application_id)])
    wrong = []
    for prefix, case in combined.cases.items():
        if "on close" in case["name"]:
            assert_no_final_result_is_lost(case["name"], given[prefix]["out"])
        elif given[prefix] != RECORDED[case["name"]]["outputs"]:
            wrong.append((case["name"], given[prefix], RECORDED[case["name"]]["outputs"]))
    assert not wrong


def application_topics(admin: Admin, application_id: str) -> list[str]:
    return [name for name in admin.list_topics() if name.startswith(f"{application_id}-")]
