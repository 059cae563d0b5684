"""Headers, exception handlers, times and the stores' own methods give what the real Kafka Streams gave."""

import json
from typing import Any, Final

import pytest

from ottla.streams import Serdes, TopologyTestDriver, log_and_continue, log_and_fail
from ottla.streams.engine.error_handler import ErrorContext, ErrorResponse
from ottla.streams.errors import StreamsError
from tests.unit.streams.scenario import STRING, Interpreter
from tests.unit.streams.test_recorded import VECTORS, content_of

CASES: Final = [json.loads(line) for line in (VECTORS / "behaviour_cases.jsonl").read_text().splitlines()]
RECORDED: Final = [json.loads(line) for line in (VECTORS / "behaviour_recorded.jsonl").read_text().splitlines()]
_OF_LANGUAGE: Final = tuple(f"__streams.errors.{name}" for name in ("exception", "stacktrace", "message"))


def resumed(context: ErrorContext, error: Exception) -> ErrorResponse:
    return ErrorResponse.resume()


HANDLERS: Final = {
    ("processing", "continue"): log_and_continue,
    ("deserialization", "continue"): log_and_continue,
    ("production", "continue"): resumed,
}


@pytest.mark.parametrize(
    ("case", "recorded"), list(zip(CASES, RECORDED, strict=True)), ids=[case["name"] for case in CASES]
)
def test_it_behaves_as_kafka_streams_does(case: dict[str, Any], recorded: dict[str, Any]) -> None:
    assert case["name"] == recorded["name"]
    with TopologyTestDriver(Interpreter().build(case["build"]), configuration(case["config"])) as driver:
        failed_at = None
        for number, one in enumerate(case["input"]):
            try:
                pipe(driver, one)
            except StreamsError:
                failed_at = number
                break
        assert failed_at == recorded.get("failed_at")
        assert outputs(driver, case) == recorded["outputs"]
        if "on close" in case["name"]:
            # Of windows whose final results have left, nothing is kept here.
            return
        stores = {name: content_of(driver, name) for name in recorded["stores"]}
        for name, content in stores.items():
            assert content in (None, recorded["stores"][name])


def configuration(given: dict[str, str]) -> dict[str, Any]:
    """A case's settings by Kafka's names."""
    found: dict[str, Any] = {"application.id": "app"}
    for name, value in given.items():
        if name == "dead_letters":
            found["errors.dead.letter.queue.topic.name"] = value
        else:
            found[f"{name}.exception.handler"] = HANDLERS.get((name, value), log_and_fail)
    return found


def pipe(driver: TopologyTestDriver, one: Any) -> None:
    if isinstance(one, dict):
        driver.advance_wall_clock_time(one["clock"])
        return
    topic, key, value, timestamp, *headers = one
    source = driver.create_input_topic(topic, STRING, STRING)
    source.pipe_input(key, value, timestamp, [("from", text.encode()) for text in headers])


def outputs(driver: TopologyTestDriver, case: dict[str, Any]) -> dict[str, list[Any]]:
    serdes: dict[str, Any] = {"long": Serdes.long(), "string": STRING}
    found: dict[str, list[Any]] = {}
    for topic, kind in case["outputs"].items():
        records = driver.create_output_topic(topic, STRING, serdes[kind]).read_records_to_list()
        found[topic] = [[one.key, one.value, one.timestamp, headers(one.headers)] for one in records]
    return found


def headers(given: Any) -> list[str]:
    return [
        name if name.startswith(_OF_LANGUAGE) else f"{name}={'~' if value is None else value.decode()}"
        for name, value in given
    ]
