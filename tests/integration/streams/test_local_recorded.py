"""Recorded topologies of Kafka Streams on the local host, with topics and a real server: the outputs are the recorded
ones, record by record."""

from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.streams.host.run_state import RunState
from ottla.streams.local.kafka_streams import KafkaStreams
from tests.integration.pipelines.streams_case import CombinedCases, feed, make_topics, merges, read, wait_until_done
from tests.kafka.server import Server
from tests.unit.streams.test_recorded import CASES, RECORDED, assert_no_final_result_is_lost

# What moves the clock is for the driver alone.
RUNNABLE = [case for case in CASES if not any(isinstance(one, dict) for one in case["input"])]
FEW = [case for case in RUNNABLE if not merges(case)][::16]


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_a_few_give_what_kafka_streams_gave(guarantee: str, broker: Server, admin: Admin, tmp_path: Path) -> None:
    assert len(FEW) >= 10
    run_and_compare(CombinedCases(FEW, f"few-{guarantee}-"), (broker, admin), tmp_path, guarantee)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_all_give_what_kafka_streams_gave(part: int, broker: Server, admin: Admin, tmp_path: Path) -> None:
    run_and_compare(CombinedCases(RUNNABLE[part::4], f"part{part}-"), (broker, admin), tmp_path, "exactly_once_v2")


def run_and_compare(combined: CombinedCases, at: tuple[Server, Admin], tmp_path: Path, guarantee: str) -> None:
    broker, admin = at
    application_id = f"recorded-{tmp_path.name}"
    names = combined.topics()
    make_topics(admin, names)
    config = {
        "application.id": application_id,
        "bootstrap.servers": broker.bootstrap,
        "state.dir": str(tmp_path),
        "processing.guarantee": guarantee,
        "commit.interval.ms": "50",
        "replication.factor": "1",
    }
    streams = KafkaStreams(combined.topology(), config)
    streams.start()
    try:
        assert streams.wait_for(RunState.RUNNING, 120), streams.failure
        inputs = streams.application.inputs
        for records in combined.rounds():
            feed(broker.bootstrap, records)
            wait_until_done(admin, application_id, inputs, lambda: streams.failure)
        given = read(broker.bootstrap, combined)
    finally:
        streams.close()
        internal = [name for name in admin.list_topics() if name.startswith(f"{application_id}-")]
        admin.delete_topics([*names, *internal])
    wrong = []
    for prefix, case in combined.cases.items():
        if "on close" in case["name"]:
            assert_no_final_result_is_lost(case["name"], given[prefix]["out"])
        elif given[prefix] != RECORDED[case["name"]]["outputs"]:
            wrong.append((case["name"], given[prefix], RECORDED[case["name"]]["outputs"]))
    assert not wrong
