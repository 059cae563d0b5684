"""Each topology of the cases gives what the real Kafka Streams gave: outputs, stores and description."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from ottla.streams import Serdes, Topology, TopologyTestDriver
from tests.unit.streams.scenario import STRING, Interpreter, shown

VECTORS: Final = Path(__file__).parents[2] / "vectors" / "streams"
CASES: Final = [json.loads(line) for line in (VECTORS / "cases.jsonl").read_text().splitlines()]
RECORDED: Final = {one["name"]: one for one in map(json.loads, (VECTORS / "recorded.jsonl").read_text().splitlines())}


def test_there_are_many_cases() -> None:
    assert len(CASES) >= 100
    assert set(RECORDED) == {case["name"] for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_outputs_and_stores_are_those_of_kafka_streams(case: dict[str, Any]) -> None:
    recorded = RECORDED[case["name"]]
    with TopologyTestDriver(built(case), {"application.id": "app"}) as driver:
        pipe(driver, case["input"])
        given = outputs(driver, case)
        if "on close" in case["name"]:
            assert_no_final_result_is_lost(case["name"], given["out"])
            return
        assert given == recorded["outputs"]
        stores = {name: content_of(driver, name) for name in recorded["stores"]}
        assert {name: content for name, content in stores.items() if content is not None} == {
            name: recorded["stores"][name] for name, content in stores.items() if content is not None
        }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_descriptions_are_those_of_kafka_streams(case: dict[str, Any]) -> None:
    ours = built(case).describe()
    assert without_class_names(ours) == without_class_names(RECORDED[case["name"]]["describe"])


def built(case: dict[str, Any]) -> Topology:
    return Interpreter().build(case["build"], case.get("optimization", "none"))


def without_class_names(text: str) -> str:
    """A function that chooses the topic is shown by its address, in Java as in Python."""
    return re.sub(r"extractor class: .*\)", "extractor class: …)", text)


def assert_no_final_result_is_lost(name: str, given: list[Any]) -> None:
    """Kafka Streams loses final results when stream time jumps beyond the store's retention; we don't.

    So ours are Kafka's and perhaps more. In time windows they are those of a suppression, which loses nothing.
    """
    recorded = RECORDED[name]["outputs"]["out"]
    assert [one for one in given if one in recorded] == recorded
    if not name.startswith("sliding"):
        suppressed = RECORDED[name.replace("on close", "suppressed")]["outputs"]["out"]
        assert sorted(given) == sorted(suppressed)


def pipe(driver: TopologyTestDriver, inputs: list[Any]) -> None:
    for one in inputs:
        if isinstance(one, dict):
            driver.advance_wall_clock_time(one["clock"])
        else:
            topic, *record = one
            driver.create_input_topic(topic, STRING, STRING).pipe_input(*record)


def outputs(driver: TopologyTestDriver, case: dict[str, Any]) -> dict[str, list[Any]]:
    serdes: dict[str, Any] = {"long": Serdes.long(), "string": STRING}
    topics = {
        topic: driver.create_output_topic(topic, STRING, serdes[kind]).read_records_to_list()
        for topic, kind in case["outputs"].items()
    }
    return {topic: [[one.key, one.value, one.timestamp] for one in records] for topic, records in topics.items()}


def content_of(driver: TopologyTestDriver, name: str) -> list[Any] | None:
    """A store's content, as the recorder writes it; None for the internal ones, whose formats are their own."""
    store = driver.get_state_store(name)
    kind = type(store).__name__
    if kind in ("ValueView", "KeyValueStore"):
        return [[key, value if isinstance(value, int) else shown(value)] for key, value in store.all()]
    if kind in ("WindowValueView", "WindowStore"):
        return [
            [f"{key.key}@{key.window.start}", value if isinstance(value, int) else shown(value)]
            for key, value in store.all()
        ]
    return None
