"""However the input is cut into batches, and however often one is repeated, outputs and final state are the same."""

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.streams import Serdes
from ottla.streams.host.application import Application, wanted_topics
from tests.property.streams.cluster import Cluster, Content, records_of
from tests.unit.streams.scenario import STRING, Interpreter
from tests.unit.streams.test_recorded import CASES, RECORDED, assert_no_final_result_is_lost

RUNNABLE: Final = [
    case
    for case in CASES
    if not any(isinstance(one, dict) for one in case["input"])
    and not any(step["op"] == "global_table" for step in case["build"])
]
NAMED: Final = {case["name"]: case for case in RUNNABLE}
MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None


def outputs_of(cluster: Cluster, case: dict[str, Any]) -> dict[str, list[Any]]:
    kinds: dict[str, Any] = {"long": Serdes.long(), "string": STRING}
    return {
        topic: [
            [
                None if record.key is None else record.key.decode(),
                None if record.value is None else kinds[kind].deserialize(topic, (), record.value),
                record.timestamp,
            ]
            for record in cluster.topics.get(topic, ())
        ]
        for topic, kind in case["outputs"].items()
    }


def run_as_it_comes(case: dict[str, Any], chance: random.Random, *, loses_disks: bool) -> dict[str, list[Any]]:
    """Each record is looked at when the ones before are done, as by the driver; batches are repeated by chance."""
    with TemporaryDirectory(dir=MEMORY) as directory:
        cluster = Cluster(Interpreter().build(case["build"]), Path(directory))
        for topic, record in records_of(case):
            cluster.append(topic, record)
            while cluster.has_work():
                cluster.batch(lambda waiting: waiting, chance.choice([0, 0, 1, 2]), gives_up=chance.random() < 0.5)
                if loses_disks and chance.random() < 0.2:
                    cluster.lose_disk()
        cluster.close()
        return outputs_of(cluster, case)


def assert_recorded(case: dict[str, Any], found: dict[str, list[Any]]) -> None:
    if "on close" in case["name"]:
        assert_no_final_result_is_lost(case["name"], found["out"])
    else:
        assert found == RECORDED[case["name"]]["outputs"]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(NAMED)), st.integers(0, 1 << 32))
def test_batches_that_are_repeated_give_the_recorded_outputs(name: str, seed: int) -> None:
    assert_recorded(NAMED[name], run_as_it_comes(NAMED[name], random.Random(seed), loses_disks=False))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(NAMED)), st.integers(0, 1 << 32))
def test_a_state_from_changelogs_gives_the_recorded_outputs(name: str, seed: int) -> None:
    assert_recorded(NAMED[name], run_as_it_comes(NAMED[name], random.Random(seed), loses_disks=True))


@cache
def in_one_batch(name: str) -> tuple[dict[str, list[Any]], Content]:
    return cut(NAMED[name], lambda waiting: waiting, random.Random(0))


def cut(case: dict[str, Any], choose: Any, chance: random.Random) -> tuple[dict[str, list[Any]], Content]:
    with TemporaryDirectory(dir=MEMORY) as directory:
        cluster = Cluster(Interpreter().build(case["build"]), Path(directory))
        for topic, record in records_of(case):
            cluster.append(topic, record)
        while cluster.has_work():
            cluster.batch(choose, chance.choice([0, 0, 1]))
        found = outputs_of(cluster, case), cluster.content()
        cluster.close()
        return found


def reads_one_topic_at_a_time(case: dict[str, Any]) -> bool:
    """Where a sub-topology reads several topics, what a batch brings of each decides their order."""
    topology = Interpreter().build(case["build"])
    application = Application.planned(topology, {"application.id": "app"}, dict.fromkeys(wanted_topics(topology), 1))
    return all(len(stage.topics) == 1 for stage in application.stages)


ONE_INPUT: Final = sorted(name for name, case in NAMED.items() if reads_one_topic_at_a_time(case))


@settings(deadline=None, max_examples=80)
@given(st.sampled_from(ONE_INPUT), st.integers(0, 1 << 32))
def test_any_cut_of_the_input_gives_the_same(name: str, seed: int) -> None:
    chance = random.Random(seed)
    found = cut(NAMED[name], lambda waiting: chance.randint(0, waiting) if waiting else 0, chance)
    assert found == in_one_batch(name)
