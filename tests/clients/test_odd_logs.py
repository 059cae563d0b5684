"""What is legal and rare in a log is read the same by every reader: ours, in all their ways, and others'."""

import asyncio
import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaError
from confluent_kafka import TopicPartition as ConfluentPartition

from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition
from ottla.client import AsyncConsumer, Consumer, RangeReader, TopicPartition
from ottla.testing import EmbeddedBroker
from tests.clients.client import confluent
from tests.clients.client.java import ToolHost
from tests.clients.odd_log import OddLog, Seen, digest

TOPIC = "odd"
SEEDS = range(8)
PATIENCE_S = 120
COLUMNS = ["partition", "offset", "timestamp", "key", "value", "headers"]
ISOLATIONS = ["read_uncommitted", "read_committed"]

Logs = Sequence[OddLog]
Read = dict[int, list[Seen]]


@pytest.fixture(scope="module")
def logs() -> Logs:
    return [OddLog(seed, is_plain=seed % 2 == 0) for seed in SEEDS]


@pytest.fixture(scope="module")
def bootstrap(logs: Logs) -> Iterator[str]:
    """A broker that has found these logs on its disk after a crash."""
    with EmbeddedBroker({"num.partitions": len(logs), "log.retention.ms": -1}) as broker:
        broker.create_topic(TOPIC, partitions=len(logs))
        broker.kill()
        for partition, log in enumerate(logs):
            [directory] = Path(broker.data_directory).rglob(f"{TOPIC}-{partition}")
            log.write(directory)
        broker.start()
        yield broker.bootstrap_servers


def wanted(log: OddLog, isolation: str) -> list[Seen]:
    return log.committed if isolation == "read_committed" else log.uncommitted


def check(logs: Logs, isolation: str, read: Read, counts: Callable[[OddLog], bool] = lambda log: True) -> None:
    for partition, log in enumerate(logs):
        if not counts(log):
            continue
        assert [*map(digest, read.get(partition, []))] == [*map(digest, wanted(log, isolation))], f"{TOPIC}-{partition}"


def seen(record: Any) -> Seen:
    """Of ours, kafka-python and aiokafka."""
    headers = tuple((name, value) for name, value in record.headers)
    timestamp = -1 if record.timestamp is None else record.timestamp
    return Seen(record.offset, timestamp, record.key, record.value, headers)


def rows(batch: Any) -> Iterator[tuple[int, Seen]]:
    """Of Arrow columns."""
    for row in batch.to_pylist():
        headers = tuple((header["key"], header["value"]) for header in row["headers"] or ())
        moment = row["timestamp"]
        timestamp = moment if isinstance(moment, int) else round(moment.timestamp() * 1000)
        yield row["partition"], Seen(row["offset"], timestamp, row["key"], row["value"], headers)


def ends(logs: Logs, isolation: str) -> dict[int, int]:
    return {index: log.stable if isolation == "read_committed" else log.end for index, log in enumerate(logs)}


def everywhere(logs: Logs) -> list[TopicPartition]:
    return [TopicPartition(TOPIC, index) for index in range(len(logs))]


# Readers of ours


FETCHES: list[Mapping[str, Any]] = [
    {},
    {"max.poll.records": 1},
    {"max.partition.fetch.bytes": 1, "fetch.max.bytes": 1, "max.poll.records": 7},
    {"max.partition.fetch.bytes": 3_000, "fetch.max.bytes": 10_000},
]


def consumer_settings(bootstrap: str, isolation: str, more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "isolation.level": isolation,
        "auto.offset.reset": "none",
        "fetch.max.wait.ms": 20,
        **more,
    }


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("fetch", FETCHES, ids=str)
def test_poll(logs: Logs, bootstrap: str, isolation: str, fetch: Mapping[str, Any]) -> None:
    with Consumer(consumer_settings(bootstrap, isolation, fetch)) as consumer:
        partitions = everywhere(logs)
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        goal = ends(logs, isolation)
        assert {place.partition: end for place, end in consumer.end_offsets(partitions).items()} == goal
        read: Read = {}
        deadline = time.monotonic() + PATIENCE_S
        while any(consumer.position(place) < goal[place.partition] for place in partitions):
            assert time.monotonic() < deadline, [consumer.position(place) for place in partitions]
            for record in consumer.poll(0.1):
                read.setdefault(record.partition, []).append(seen(record))
    check(logs, isolation, read)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_asyncio(logs: Logs, bootstrap: str, isolation: str) -> None:
    async def go() -> Read:
        settings = consumer_settings(bootstrap, isolation, {"max.partition.fetch.bytes": 30_000})
        read: Read = {}
        async with AsyncConsumer(settings) as consumer:
            consumer.assign(everywhere(logs))
            consumer.seek_to_beginning()
            goal = ends(logs, isolation)
            async with asyncio.timeout(PATIENCE_S):
                while any([await consumer.position(place) < goal[place.partition] for place in everywhere(logs)]):
                    for record in await consumer.poll(0.1):
                        read.setdefault(record.partition, []).append(seen(record))
        return read

    check(logs, isolation, asyncio.run(go()))


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_arrow_and_records_by_turns(logs: Logs, bootstrap: str, isolation: str) -> None:
    pytest.importorskip("pyarrow")
    dice = random.Random(isolation)
    fetch = {"max.partition.fetch.bytes": 3_000, "max.poll.records": 3}
    with Consumer(consumer_settings(bootstrap, isolation, fetch)) as consumer:
        partitions = everywhere(logs)
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        goal = ends(logs, isolation)
        read: Read = {}
        deadline = time.monotonic() + PATIENCE_S
        while any(consumer.position(place) < goal[place.partition] for place in partitions):
            assert time.monotonic() < deadline, [consumer.position(place) for place in partitions]
            if dice.random() < 0.5:
                found = [(record.partition, seen(record)) for record in consumer.poll(0.1)]
            else:
                batch = consumer.poll_arrow(0.1, columns=COLUMNS)
                found = [] if batch is None else [*rows(batch)]
            for partition, each in found:
                read.setdefault(partition, []).append(each)
    check(logs, isolation, read)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_seeks_and_pauses(logs: Logs, bootstrap: str, isolation: str) -> None:
    """Wherever the position is put, what comes next is what lies there."""
    dice = random.Random(isolation)
    fetch = {"max.partition.fetch.bytes": 3_000, "max.poll.records": 5}
    left = {index: wanted(log, isolation) for index, log in enumerate(logs)}
    goal = ends(logs, isolation)
    with Consumer(consumer_settings(bootstrap, isolation, fetch)) as consumer:
        partitions = everywhere(logs)
        consumer.assign(partitions)
        at: dict[int, int] = {}
        for place in partitions:
            at[place.partition] = dice.randrange(goal[place.partition])
            consumer.seek(place, at[place.partition])
        for _ in range(150):
            place = dice.choice(partitions)
            match dice.randrange(4):
                case 0:
                    at[place.partition] = dice.randrange(goal[place.partition] + 1)
                    consumer.seek(place, at[place.partition])
                case 1:
                    consumer.pause([place])
                case 2:
                    consumer.resume(consumer.paused())
            paused = consumer.paused()
            for place, records in consumer.poll(0.05).by_partition().items():
                assert place not in paused
                after = [each for each in left[place.partition] if each.offset >= at[place.partition]]
                assert [*map(digest, map(seen, records))] == [*map(digest, after[: len(records)])]
                at[place.partition] = records[-1].offset + 1
                assert consumer.position(place) >= at[place.partition]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_ranges(logs: Logs, bootstrap: str, isolation: str) -> None:
    pytest.importorskip("pyarrow")
    dice = random.Random(isolation)
    settings = {"max.partition.fetch.bytes": 3_000, "fetch.max.wait.ms": 20}
    with RangeReader(settings, bootstrap_servers=bootstrap, isolation_level=isolation) as reader:
        for index, log in enumerate(logs):
            end = log.stable if isolation == "read_committed" else log.end
            some = [sorted(dice.sample(range(end + 1), 2)) for _ in range(5)] if end > 1 else []
            for start, stop in [(0, end), *some]:
                batches = reader.read(TOPIC, index, start=start, end=stop, columns=COLUMNS)
                found = [each for _, each in itertools.chain.from_iterable(map(rows, batches))]
                expected = [each for each in wanted(log, isolation) if start <= each.offset < stop]
                assert [*map(digest, found)] == [*map(digest, expected)], f"{TOPIC}-{index} [{start}, {stop})"


# Readers of others


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_confluent(logs: Logs, bootstrap: str, isolation: str) -> None:
    client = confluent.consumer(bootstrap, isolation_level=isolation, enable_partition_eof=True)
    client.assign([ConfluentPartition(TOPIC, index, OFFSET_BEGINNING) for index in range(len(logs))])
    read: Read = {}
    unread = set(range(len(logs)))
    deadline = time.monotonic() + PATIENCE_S
    while unread:
        assert time.monotonic() < deadline, unread
        for found in client.consume(1_000, timeout=0.1):
            if found.error() is None:
                timestamp = found.timestamp()[1] if found.timestamp()[0] else -1
                each = Seen(found.offset(), timestamp, found.key(), found.value(), tuple(found.headers() or ()))
                read.setdefault(found.partition(), []).append(each)
            elif found.error().code() == KafkaError._PARTITION_EOF:
                unread.discard(found.partition())
    client.close()
    check(logs, isolation, read)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_kafka_python(logs: Logs, bootstrap: str, isolation: str) -> None:
    client = KafkaConsumer(bootstrap_servers=bootstrap, isolation_level=isolation, auto_offset_reset="earliest")
    partitions = [KafkaPartition(TOPIC, index) for index, log in enumerate(logs) if log.is_plain]
    client.assign(partitions)
    goal = ends(logs, isolation)
    read: Read = {}
    deadline = time.monotonic() + PATIENCE_S
    position: Callable[[KafkaPartition], int] = client.position
    while any(position(place) < goal[place.partition] for place in partitions):
        assert time.monotonic() < deadline, [position(place) for place in partitions]
        for records in client.poll(timeout_ms=100).values():
            for record in records:
                read.setdefault(record.partition, []).append(seen(record))
    client.close()
    check(logs, isolation, read, lambda log: log.is_plain)


@pytest.mark.long
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_java(logs: Logs, bootstrap: str, tools: ToolHost, isolation: str) -> None:
    """The console consumer, which prints all but values."""
    shown = [f"print.{name}=true" for name in ("timestamp", "partition", "offset", "key")] + ["print.value=false"]
    arguments = [part for name in shown for part in ("--formatter-property", name)]
    count = sum(len(wanted(log, isolation)) for log in logs)
    outcome = tools.run(
        "consumer.ConsoleConsumer",
        *("--bootstrap-server", bootstrap, "--topic", TOPIC, "--from-beginning", "--timeout-ms", "20000"),
        *("--isolation-level", isolation, "--max-messages", str(count)),
        *arguments,
    )
    assert outcome.code == 0, outcome
    found: dict[int, list[tuple[int, int, bytes]]] = {}
    for line in outcome.out.splitlines():
        moment, partition, offset, key = line.split("\t")
        timestamp = -1 if moment == "NO_TIMESTAMP" else int(moment.partition(":")[2])
        each = int(offset.partition(":")[2]), timestamp, key.encode()
        found.setdefault(int(partition.partition(":")[2]), []).append(each)
    for index, log in enumerate(logs):
        expected = [
            (each.offset, each.timestamp, b"null" if each.key is None else each.key) for each in wanted(log, isolation)
        ]
        assert found.get(index, []) == expected, f"{TOPIC}-{index}"
