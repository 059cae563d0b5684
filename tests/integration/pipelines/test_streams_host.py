"""`KafkaStreams` in its life: on another disk, at least once, by the clock, as a pipeline, and failing."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.runner.status import State
from ottla.streams import (
    Consumed,
    Grouped,
    Materialized,
    Processor,
    ProcessorContext,
    Produced,
    PunctuationType,
    Record,
    Serdes,
    StreamsBuilder,
    Topology,
)
from tests.integration.pipelines.conftest import CreateTopic
from tests.integration.pipelines.control_process import ControlRun
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from pyspark import cloudpickle

from ottla.pipelines.streams.kafka_streams import KafkaStreams
from ottla.streams.host.run_state import RunState
from ottla.streams.local.failure import FailureResponse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

TEXT = Serdes.string()
PATIENCE_S = 180


def counting(source: str, target: str) -> Topology:
    builder = StreamsBuilder()
    grouped = builder.stream(source, Consumed.with_(TEXT, TEXT)).group_by(lambda k, v: v, Grouped.with_(TEXT, TEXT))
    counts = grouped.count(materialized_as=Materialized.as_("counts"))
    counts.to_stream().to(target, Produced.with_(TEXT, Serdes.long()))
    return builder.build()


class Ticker(Processor[Any, Any, Any, Any]):
    """Says what it has seen so far, every second."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        super().init(context)
        context.schedule(1_000, PunctuationType.WALL_CLOCK_TIME, self.fired)

    def fired(self, time_ms: int) -> None:
        self.context.forward(Record("tick", "tock", time_ms))

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record)


@contextmanager
def running(
    topology: Topology, at: "tuple[SparkSession, Server]", tmp_path: Path, **config: str
) -> "Iterator[KafkaStreams]":
    spark, broker = at
    # Spark's workers do not find the tests.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    config = {
        "bootstrap.servers": broker.bootstrap,
        "state.dir": str(tmp_path),
        "replication.factor": "1",
        **{name.replace("_", "."): value for name, value in config.items()},
    }
    streams = KafkaStreams(topology, config, spark=spark)
    try:
        streams.start()
        yield streams
    finally:
        streams.close()


def produce(broker: Server, topic: str, values: list[str]) -> None:
    with Producer(bootstrap_servers=broker.bootstrap) as producer:
        for value in values:
            producer.send(topic, key=b"k", value=value.encode())
        producer.flush()


def read(broker: Server, topic: str, partitions: int) -> list[tuple[str, bytes]]:
    with Consumer(bootstrap_servers=broker.bootstrap, isolation_level="read_committed") as consumer:
        places = [TopicPartition(topic, number) for number in range(partitions)]
        consumer.assign(places)
        consumer.seek_to_beginning(places)
        ends = consumer.end_offsets(places)
        found = []
        while any(consumer.position(place) < ends[place] for place in places):
            found += [((record.key or b"").decode(), record.value or b"") for record in consumer.poll(0.2)]
        return found


def counts(broker: Server, topic: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for key, value in read(broker, topic, 2):
        found.setdefault(key, []).append(int.from_bytes(value, "big"))
    return found


def wait_until(condition: Callable[[], bool], streams: KafkaStreams | None = None) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert streams is None or streams.failure is None, streams.failure
        assert time.monotonic() < deadline
        time.sleep(0.2)


def expected(values: list[str]) -> dict[str, list[int]]:
    return {value: list(range(1, count + 1)) for value, count in Counter(values).items()}


def test_a_lost_disk_is_made_up_for_by_the_changelogs(
    spark: "SparkSession", broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    values = [f"v{number % 5}" for number in range(50)]
    given = {"application_id": "disks", "processing_guarantee": "exactly_once_v2"}
    produce(broker, source, values)
    with running(counting(source, target), (spark, broker), tmp_path / "a", **given) as streams:
        wait_until(lambda: counts(broker, target) == expected(values), streams)
        assert streams.metrics()["batchId"] >= 0
    assert streams.state is RunState.NOT_RUNNING
    produce(broker, source, values)
    # The same checkpoint, and no state; then neither.
    streams.clean_up()
    with running(counting(source, target), (spark, broker), tmp_path / "a", **given) as streams:
        wait_until(lambda: counts(broker, target) == expected(values * 2), streams)
    produce(broker, source, values)
    with running(counting(source, target), (spark, broker), tmp_path / "b", **given) as streams:
        wait_until(lambda: counts(broker, target) == expected(values * 3), streams)


def test_at_least_once_shows_its_lag_in_its_group(
    spark: "SparkSession", broker: Server, topic: CreateTopic, admin: Admin, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    produce(broker, source, ["a", "b", "a"])
    seen: list[RunState] = []

    def offsets() -> int:
        found = admin.list_consumer_group_offsets({"lagging": None})["lagging"]
        return sum(at.offset for place, at in found.items() if at is not None and place.topic == source)

    streams = KafkaStreams(
        counting(source, target),
        {"application.id": "lagging", "bootstrap.servers": broker.bootstrap, "state.dir": str(tmp_path)},
        spark=spark,
    )
    streams.set_state_listener(lambda new, old: seen.append(new))
    with streams:
        wait_until(lambda: counts(broker, target) == {"a": [1, 2], "b": [1]}, streams)
        wait_until(lambda: offsets() == 3, streams)
    assert seen == [RunState.REBALANCING, RunState.RUNNING, RunState.PENDING_SHUTDOWN, RunState.NOT_RUNNING]


def test_the_clock_punctuates_without_records(
    spark: "SparkSession", broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    builder = StreamsBuilder()
    stream = builder.stream(source, Consumed.with_(TEXT, TEXT)).process(Ticker)
    stream.to(target, Produced.with_(TEXT, TEXT))
    given = {"application_id": "ticking", "processing_guarantee": "exactly_once_v2"}
    with running(builder.build(), (spark, broker), tmp_path, **given) as streams:
        wait_until(lambda: len(read(broker, target, 1)) >= 3, streams)
    assert set(read(broker, target, 1)) == {("tick", b"tock")}


def test_a_function_that_fails_ends_it_with_the_reason(
    spark: "SparkSession", broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    produce(broker, source, ["x"])
    builder = StreamsBuilder()
    stream = builder.stream(source, Consumed.with_(TEXT, TEXT)).map_values(lambda value: str(int(value)))
    stream.to(target, Produced.with_(TEXT, TEXT))
    with running(builder.build(), (spark, broker), tmp_path, application_id="failing") as streams:
        assert not streams.wait_for(RunState.NOT_RUNNING, PATIENCE_S)
        assert streams.state is RunState.ERROR
        with pytest.raises(Exception, match=r"KSTREAM-MAPVALUES-0000000001 failed on the record of .* at offset 0"):
            streams.wait()


def test_a_topology_as_a_pipeline(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    control = ControlRun(broker.bootstrap, tmp_path / "pipes", "--master", "local[2,4]")
    definition = {
        "topology": "tests.integration.pipelines.streams_query:topology",
        "config": {"processing.guarantee": "exactly_once_v2", "replication.factor": "1"},
    }
    try:
        control.start()
        control.write(PipelineSpec(name="counted", kind="streams", definition=definition))
        control.wait_until(lambda: control.state("counted") is State.FAILED)
        assert "there is no topic values: create it first" in str(control.entry("counted").status)
        topic(partitions=2, name="values")
        topic(partitions=2, name="value-counts")
        produce(broker, "values", ["a", "b", "a"])
        control.change("counted", lambda spec: replace(spec, restart=spec.restart + 1))
        control.wait_until(lambda: counts(broker, "value-counts") == {"a": [1, 2], "b": [1]})
    finally:
        control.stop()


def test_a_handler_has_a_failing_application_begin_again(
    spark: "SparkSession", broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    """The value that nothing can be made of is mended by the handler; none of the others is lost or counted twice."""
    source, target = topic(partitions=2), topic(partitions=2)
    broken = tmp_path / "broken"
    broken.touch()
    path = str(broken)

    def checked(key: str, value: str) -> bool:
        if value == "bad" and Path(path).exists():
            raise ValueError("no good")
        return True

    builder = StreamsBuilder()
    stream = builder.stream(source, Consumed.with_(TEXT, TEXT)).filter(checked)
    grouped = stream.group_by(lambda key, value: value, Grouped.with_(TEXT, TEXT))
    grouped.count(materialized_as=Materialized.as_("counts")).to_stream().to(
        target, Produced.with_(TEXT, Serdes.long())
    )
    failures: list[str] = []

    def repairing(error: Exception) -> FailureResponse:
        failures.append(str(error))
        if len(failures) == 2:
            broken.unlink()
        return FailureResponse.REPLACE_THREAD

    values = ["a", "b", "bad", "a", "bad"]
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    config = {
        "application.id": "replaced",
        "processing.guarantee": "exactly_once_v2",
        "bootstrap.servers": broker.bootstrap,
        "state.dir": str(tmp_path / "state"),
        "replication.factor": "1",
    }
    produce(broker, source, values)
    states: list[RunState] = []
    streams = KafkaStreams(builder.build(), config, spark=spark)
    streams.set_uncaught_exception_handler(repairing)
    streams.set_state_listener(lambda new, old: states.append(new))
    with streams:
        wait_until(lambda: counts(broker, target) == expected(values), streams)
        assert streams.state is RunState.RUNNING
    assert len(failures) == 2
    assert all("no good" in text for text in failures)
    assert RunState.PENDING_ERROR not in states
