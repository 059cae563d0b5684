"""The local host in its life: restarts, lost disks, several instances, failures, the clock, global tables."""

import threading
from pathlib import Path
from typing import Any

import pytest

from ottla.client.record import TopicPartition
from ottla.streams import (
    Consumed,
    Materialized,
    ProcessingError,
    Processor,
    ProcessorContext,
    Produced,
    PunctuationType,
    Record,
    RunState,
    Serdes,
    Stores,
    StreamsBuilder,
    log_and_continue,
)
from ottla.streams.local.failure import FailureResponse
from ottla.streams.local.kafka_streams import KafkaStreams
from ottla.streams.local.restoration import StateRestoreListener
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import TEXT, counting, counts, expected, local, produce, read, wait_until
from tests.kafka.server import Server

VALUES = [f"v{number % 5}" for number in range(50)]
EXACTLY_ONCE = {"processing_guarantee": "exactly_once_v2"}


class Restored(StateRestoreListener):
    """Counts what was restored."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.pieces = 0

    def on_batch_restored(self, partition: TopicPartition, store: str, next_offset: int, count: int) -> None:
        self.pieces += 1

    def on_restore_end(self, partition: TopicPartition, store: str, count: int) -> None:
        self.counts[str(partition)] = count


def run(streams: KafkaStreams, broker: Server, target: str, wanted: dict[str, list[int]]) -> Restored:
    """Runs until the counts are the wanted ones; what was restored."""
    listener = Restored()
    streams.set_global_state_restore_listener(listener)
    with streams:
        wait_until(lambda: counts(broker.bootstrap, target) == wanted, streams)
    assert streams.state is RunState.NOT_RUNNING
    return listener


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_a_clean_restart_reads_no_changelog_and_a_lost_disk_reads_it_all(
    guarantee: str, broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    config = {"application_id": f"restart-{guarantee}", "processing_guarantee": guarantee}
    topology = counting(source, target)
    for turn, directory in enumerate(("a", "a", "b"), 1):
        produce(broker.bootstrap, source, VALUES)
        streams = local(topology, broker.bootstrap, state_dir=str(tmp_path / directory), **config)
        restored = run(streams, broker, target, expected(VALUES * turn))
        assert sum(restored.counts.values()) == (100 if directory == "b" else 0)
    assert restored.pieces


def test_a_store_in_memory_is_restored_at_every_start(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    in_memory: Materialized[Any, Any] = Materialized.as_(Stores.in_memory_key_value_store("counts"))
    topology = counting(source, target, in_memory)
    for turn in (1, 2):
        produce(broker.bootstrap, source, VALUES)
        config = {"application_id": "in-memory", "state_dir": str(tmp_path), **EXACTLY_ONCE}
        restored = run(local(topology, broker.bootstrap, **config), broker, target, expected(VALUES * turn))
        # The broker may have compacted the changelog meanwhile: five values are what is left at least.
        assert (5 if turn == 2 else 0) <= sum(restored.counts.values()) <= 50 * (turn - 1)


def test_two_instances_share_the_tasks_and_one_takes_over(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, target = topic(partitions=2), topic(partitions=2)
    topology = counting(source, target)
    config = {"application_id": "sharing", **EXACTLY_ONCE}
    first = local(topology, broker.bootstrap, state_dir=str(tmp_path / "a"), **config)
    second = local(topology, broker.bootstrap, state_dir=str(tmp_path / "b"), **config)
    with first:
        produce(broker.bootstrap, source, VALUES)
        wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES), first)
        with second:
            wait_until(lambda: [one.metrics().get("active-tasks") for one in (first, second)] == [2, 2], first, second)
            produce(broker.bootstrap, source, VALUES)
            wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES * 2), first, second)
            assert all(one.metrics()["process-total"] for one in (first, second))
        produce(broker.bootstrap, source, VALUES)
        wait_until(lambda: counts(broker.bootstrap, target) == expected(VALUES * 3), first)
        assert first.metrics()["active-tasks"] == 4


def test_a_failing_function_ends_the_instance_or_is_tried_again(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    repaired = threading.Event()
    failures: list[Exception] = []

    def checked(value: str) -> str:
        if value == "bad" and not repaired.is_set():
            raise ValueError("no good")
        return value

    builder = StreamsBuilder()
    stream = builder.stream(source, Consumed.with_(TEXT, TEXT)).map_values(checked)
    stream.to(target, Produced.with_(TEXT, TEXT))
    topology = builder.build()
    produce(broker.bootstrap, source, ["good", "bad", "better"])
    config = {"application_id": "failing", "state_dir": str(tmp_path), **EXACTLY_ONCE}
    streams = local(topology, broker.bootstrap, **config)
    states: list[tuple[str, str]] = []
    streams.set_state_listener(lambda new, old: states.append((old.value, new.value)))
    streams.start()
    with pytest.raises(ProcessingError, match=r"KSTREAM-MAPVALUES-0000000001 failed on the record of .*-0 at offset 1"):
        streams.wait(60)
    assert streams.state is RunState.ERROR
    streams.close()
    assert states[-3:] == [
        ("PENDING_ERROR", "ERROR"),
        ("ERROR", "PENDING_SHUTDOWN"),
        ("PENDING_SHUTDOWN", "NOT_RUNNING"),
    ]

    def repair(error: Exception) -> FailureResponse:
        failures.append(error)
        repaired.set()
        return FailureResponse.REPLACE_THREAD

    streams = local(topology, broker.bootstrap, **config)
    streams.set_uncaught_exception_handler(repair)
    with streams:
        wait_until(lambda: len(read(broker.bootstrap, target, 1)) == 3, streams)
    assert [value for _, value in read(broker.bootstrap, target, 1)] == [b"good", b"bad", b"better"]
    assert len(failures) == 1


def test_records_that_cannot_be_read_processed_or_written_go_to_the_dead_letters(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    source, target, letters = topic(), topic(), topic()
    builder = StreamsBuilder()
    numbers = builder.stream(source, Consumed.with_(TEXT, Serdes.integer()))
    numbers.map_values(lambda number: "x" * (20_000 // number)).to(target, Produced.with_(TEXT, TEXT))
    config = {
        "application_id": "dead-letters",
        "state_dir": str(tmp_path),
        "deserialization_exception_handler": log_and_continue,
        "processing_exception_handler": log_and_continue,
        "production_exception_handler": log_and_continue,
        "errors_dead_letter_queue_topic_name": letters,
        "producer_max_request_size": "10000",
    }
    # Four bytes are a number: 100, 0 (which nothing can be divided by), 1 (which makes too much), no number at all.
    values = ["\x00\x00\x00d", "\x00\x00\x00\x00", "\x00\x00\x00\x01", "no number", "\x00\x00\x00d"]
    produce(broker.bootstrap, source, values)
    with local(builder.build(), broker.bootstrap, **config) as streams:
        wait_until(lambda: len(read(broker.bootstrap, target, 1)) == 2, streams)
        wait_until(lambda: streams.metrics()["dropped-records-total"] == 3, streams)
    assert [value for _, value in read(broker.bootstrap, target, 1)] == [b"x" * 200] * 2


class Ticker(Processor[Any, Any, Any, Any]):
    """Says something every now and then, and passes on what comes."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        super().init(context)
        context.schedule(50, PunctuationType.WALL_CLOCK_TIME, self.fired)

    def fired(self, time_ms: int) -> None:
        self.context.forward(Record("tick", "tock", time_ms))

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record)


def test_the_clock_fires_without_records(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, target = topic(), topic()
    builder = StreamsBuilder()
    builder.stream(source, Consumed.with_(TEXT, TEXT)).process(Ticker).to(target, Produced.with_(TEXT, TEXT))
    config = {"application_id": "ticking", "state_dir": str(tmp_path), **EXACTLY_ONCE}
    with local(builder.build(), broker.bootstrap, **config) as streams:
        wait_until(lambda: len(read(broker.bootstrap, target, 1)) >= 3, streams)


def test_a_global_table_is_complete_before_the_first_record_and_is_followed(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    names, source, target = topic(partitions=2), topic(), topic()
    builder = StreamsBuilder()
    table = builder.global_table(names, Consumed.with_(TEXT, TEXT), Materialized.as_("names"))
    stream = builder.stream(source, Consumed.with_(TEXT, TEXT))
    stream.join(table, lambda key, value: value, lambda left, right: f"{left}:{right}").to(
        target, Produced.with_(TEXT, TEXT)
    )
    produce(broker.bootstrap, names, ["zero", "one"])
    produce(broker.bootstrap, source, ["0", "1", "2"])
    config = {"application_id": "global", "state_dir": str(tmp_path)}
    with local(builder.build(), broker.bootstrap, **config) as streams:
        wait_until(lambda: len(read(broker.bootstrap, target, 1)) == 2, streams)
        produce(broker.bootstrap, names, ["zero", "one", "two"])

        def is_known() -> bool:
            produce(broker.bootstrap, source, ["2"])
            return (read(broker.bootstrap, target, 1) or [("", b"")])[-1][1] == b"2:two"

        wait_until(is_known, streams)
    assert [value for _, value in read(broker.bootstrap, target, 1)][:2] == [b"0:zero", b"1:one"]
