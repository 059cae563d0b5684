"""A foreign-key join of tables whose topics were partitioned by other rules than ours."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from ottla.streams import Consumed, Materialized, Produced, Serdes, StreamsBuilder, TableJoined, Topology
from ottla.streams.engine.error_handler import OutputRecord
from tests.property.streams.partitioned import Host, LocalHost, SparkHost

TEXT: Final = Serdes.string()
PARTITIONS: Final = 3


def joined(*options: Any) -> Topology:
    builder = StreamsBuilder()
    left = builder.table("left", Consumed.with_(TEXT, TEXT), Materialized.as_("left"))
    right = builder.table("right", Consumed.with_(TEXT, TEXT), Materialized.as_("right"))
    result: Materialized[str, str] = Materialized.with_(TEXT, TEXT)
    table = left.join(right, lambda one, two: f"{one}+{two}", *options, result, foreign_key=lambda value: value[:1])
    table.to_stream().to("out", Produced.with_(TEXT, TEXT))
    return builder.build()


def results(host: Host) -> set[tuple[str, str]]:
    """The answers to six rows, one in each partition, of which none is where its key's hash would have it."""
    for number, key in enumerate("abcdef"):
        host.topics.append(row("left", key, f"{'xyz'[number // 2]}:{key}", number % PARTITIONS))
    while host.has_work():
        for number in range(PARTITIONS):
            host.step(number, lambda waiting: waiting)
    logs = [log for place, log in host.topics.logs.items() if place.topic == "out"]
    return {(record.key.decode(), record.value.decode()) for log in logs for record in log}  # type: ignore[union-attr]


def row(topic: str, key: str, value: str, partition: int | None) -> OutputRecord:
    return OutputRecord(topic, key.encode(), value.encode(), 0, (), partition)


def spark(topology: Topology, directory: Path) -> Host:
    return SparkHost(topology, PARTITIONS, directory)


def local(topology: Topology, directory: Path) -> Host:
    return LocalHost(topology, PARTITIONS, directory, lambda: False)


EXPECTED: Final = {(key, f"{'xyz'[number // 2]}:{key}+{'xyz'[number // 2]}!") for number, key in enumerate("abcdef")}


@pytest.mark.parametrize("make", [spark, local])
def test_answers_come_back_to_the_partition_that_asked(make: Callable[..., Host], tmp_path: Path) -> None:
    host = make(joined(), tmp_path)
    for key in "xyz":
        host.topics.append(row("right", key, f"{key}!", None))
    assert results(host) == EXPECTED
    host.close()


@pytest.mark.parametrize("make", [spark, local])
def test_both_tables_may_have_partitioners(make: Callable[..., Host], tmp_path: Path) -> None:
    """What they are called with is the key of each table, without a value."""
    seen = set()

    def by_place(letters: str) -> Callable[[str, Any, Any, int], int]:
        def partition(topic: str, key: Any, value: Any, partitions: int) -> int:
            seen.add((topic, key, value, partitions))
            return letters.index(key) % partitions

        return partition

    options = TableJoined.with_(by_place("abcdef"), None).with_other_partitioner(by_place("zyx")).with_name("joined")
    host = make(joined(options), tmp_path)
    for number, key in enumerate("zyx"):
        host.topics.append(row("right", key, f"{key}!", number))
    assert results(host) == EXPECTED
    request, answer = (f"app-joined-subscription-{name}-topic" for name in ("registration", "response"))
    assert seen == {(request, key, None, 3) for key in "xyz"} | {(answer, key, None, 3) for key in "abcdef"}
    host.close()
