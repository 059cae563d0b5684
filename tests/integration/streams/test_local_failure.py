"""What the uncaught exception handler decides, where two instances share an application."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.streams import Consumed, Grouped, Materialized, Produced, RunState, Serdes, StreamsBuilder, Topology
from ottla.streams.local.failure import FailureResponse
from ottla.streams.local.kafka_streams import KafkaStreams
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import PATIENCE_S, TEXT, counts, expected, local, produce, wait_until
from tests.kafka.server import Server

FIRST = [f"v{number % 5}" for number in range(40)]
SECOND = [*FIRST, *["bad"] * 10]
"""The producer's partitioner gives both partitions some of the bad ones."""


class Trap:
    """Fails on bad values while it is set; what failed."""

    def __init__(self, *, is_set: bool) -> None:
        self.is_set = is_set
        self.failures: list[Exception] = []

    def checked(self, value: str) -> str:
        if self.is_set and value == "bad":
            raise ValueError("no good")
        return value

    def answering(self, response: FailureResponse, *, repairs: bool = False) -> Callable[[Exception], FailureResponse]:
        def handler(error: Exception) -> FailureResponse:
            self.failures.append(error)
            self.is_set = self.is_set and not repairs
            return response

        return handler


def topology(source: str, target: str, trap: Trap) -> Topology:
    builder = StreamsBuilder()
    values = builder.stream(source, Consumed.with_(TEXT, TEXT)).map_values(trap.checked)
    grouped = values.group_by(lambda key, value: value, Grouped.with_(TEXT, TEXT))
    counted = grouped.count(materialized_as=Materialized.as_("counts"))
    counted.to_stream().to(target, Produced.with_(TEXT, Serdes.long()))
    return builder.build()


class Pair:
    """Two instances; the first one's function fails on bad values."""

    def __init__(self, broker: Server, topic: CreateTopic, directory: Path, name: str) -> None:
        self.source, self.target = topic(partitions=2), topic(partitions=2)
        self.traps = (Trap(is_set=True), Trap(is_set=False))
        self._broker = broker
        self._directory = directory
        self._name = name
        self.instances = [self.made(number) for number in range(2)]

    def made(self, number: int) -> KafkaStreams:
        config = {"application_id": self._name, "processing_guarantee": "exactly_once_v2"}
        directory = str(self._directory / str(number))
        found = topology(self.source, self.target, self.traps[number])
        return local(found, self._broker.bootstrap, state_dir=directory, **config)

    def feed(self, values: list[str]) -> None:
        produce(self._broker.bootstrap, self.source, values)

    def start_and_share(self) -> None:
        for one in self.instances:
            one.start()
        self.wait_until(lambda: [one.metrics().get("active-tasks") for one in self.instances] == [2, 2])
        self.feed(FIRST)
        self.wait_until(lambda: self.has_counted(FIRST))

    def has_counted(self, values: list[str]) -> bool:
        return counts(self._broker.bootstrap, self.target) == expected(values)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, *self.instances)

    def close(self) -> None:
        for one in self.instances:
            one.close(PATIENCE_S)


@pytest.mark.long
def test_an_instance_ends_and_the_other_one_does_its_work(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    pair = Pair(broker, topic, tmp_path, "shutdown-client")
    first, second = pair.instances
    first.set_uncaught_exception_handler(pair.traps[0].answering(FailureResponse.SHUTDOWN_CLIENT))
    try:
        pair.start_and_share()
        pair.feed(SECOND)
        wait_until(lambda: first.state is RunState.ERROR, second)
        wait_until(lambda: pair.has_counted(FIRST + SECOND), second)
        assert second.metrics()["active-tasks"] == 4
        assert len(pair.traps[0].failures) == 1
    finally:
        pair.close()


def test_an_instance_is_replaced_while_the_other_one_goes_on(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    pair = Pair(broker, topic, tmp_path, "replace-thread")
    answer = pair.traps[0].answering(FailureResponse.REPLACE_THREAD, repairs=True)
    pair.instances[0].set_uncaught_exception_handler(answer)
    try:
        pair.start_and_share()
        pair.feed(SECOND)
        pair.wait_until(lambda: pair.has_counted(FIRST + SECOND))
        pair.wait_until(lambda: [one.metrics().get("active-tasks") for one in pair.instances] == [2, 2])
        assert len(pair.traps[0].failures) == 1
    finally:
        pair.close()


def test_one_instance_ends_all_and_no_other_handler_is_asked(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    pair = Pair(broker, topic, tmp_path, "shutdown-application")
    first, second = pair.instances
    first.set_uncaught_exception_handler(pair.traps[0].answering(FailureResponse.SHUTDOWN_APPLICATION))
    second.set_uncaught_exception_handler(pair.traps[1].answering(FailureResponse.REPLACE_THREAD))
    try:
        pair.start_and_share()
        pair.feed(SECOND)
        wait_until(lambda: [one.state for one in (first, second)] == [RunState.ERROR] * 2)
        assert "no good" in str(first.failure)
        assert "whole application" in str(second.failure)
        assert not pair.traps[1].failures
    finally:
        pair.close()
    # The next start begins where all have ended.
    pair.traps[0].is_set = False
    with pair.made(0) as again:
        wait_until(lambda: pair.has_counted(FIRST + SECOND), again)
