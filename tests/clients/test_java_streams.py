"""Kafka Streams, unchanged, with the guarantee that needs most of a broker: exactly once, through kills on both sides.

`java/Streams.java` counts words: a repartition topic, a store with a changelog, transactions that hold offsets, the
changelog and the results. Every count is written, so that for each word the results must be 1, 2, 3 … without a gap, a
double or a swap.
"""

import random
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition

from tests.clients import topic
from tests.clients.client import confluent
from tests.clients.jvm import Program
from tests.clients.patience import until
from tests.kafka.peer import VERSION, require_kafka
from tests.kafka.server import Server

pytestmark = [pytest.mark.client(f"Kafka Streams {VERSION}"), pytest.mark.long]
PARTITIONS = 4
WORDS = [f"word{number}" for number in range(20)]
_SOURCE = Path(__file__).parent / "java" / "Streams.java"


class Lines:
    """What was written for the application to count."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.written: Counter[str] = Counter()
        self._producer: Producer = confluent.producer(bootstrap, enable_idempotence=True)
        self._topic = name
        self._dice = random.Random(name)

    def write(self, count: int) -> None:
        for _ in range(count):
            words = self._dice.choices(WORDS, k=5)
            self.written.update(words)
            self._producer.produce(self._topic, " ".join(words))
        assert self._producer.flush(60) == 0


class Counts:
    """What the application counted, as far as it is committed."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.seen: dict[str, list[int]] = defaultdict(list)
        self._consumer = confluent.consumer(bootstrap, isolation_level="read_committed")
        self._consumer.assign([TopicPartition(name, partition, 0) for partition in range(PARTITIONS)])

    def close(self) -> None:
        self._consumer.close()

    def read(self) -> int:
        """Reads what there is; how many counts there were so far."""
        for message in self._consumer.consume(1_000, timeout=0.2):
            if message.error() is None:
                self.seen[message.key().decode()].append(struct.unpack(">q", message.value())[0])
        return sum(map(len, self.seen.values()))


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Callable[[str, str], Program]]:
    """Makes instances of the application, each with a directory of its own."""
    require_kafka()
    made: list[Program] = []

    def make(bootstrap: str, name: str) -> Program:
        arguments = (bootstrap, "words", str(tmp_path / name))
        made.append(Program(tmp_path / f"{name}.log", str(_SOURCE), arguments))
        return made[-1]

    yield make
    for program in made:
        program.kill()


def test_words_are_counted_exactly_once(
    lone_server: Callable[..., Server], application: Callable[[str, str], Program]
) -> None:
    """exactly once with repartition and changelog topics, while the application and the server are killed"""
    server = lone_server(group_initial_rebalance_delay_ms="0")
    for name in ("words-lines", "words-counts", "words-named"):
        topic.create(server, name, PARTITIONS)
    topic.create(server, "words-names", PARTITIONS, cleanup_policy="compact")
    lines, counts = Lines(server.bootstrap, "words-lines"), Counts(server.bootstrap, "words-counts")
    first, second = application(server.bootstrap, "first"), application(server.bootstrap, "second")

    def wait_for(count: int, program: Program) -> None:
        def is_there() -> bool:
            program.check()
            return counts.read() >= count

        until(True, is_there)

    first.start()
    lines.write(200)
    wait_for(500, first)
    lines.write(200)
    first.kill()
    # Another instance: its store is restored from the changelog, and what the first left open is aborted.
    second.start()
    wait_for(1_500, second)
    server.kill()
    server.start()
    lines.write(200)
    wait_for(lines.written.total(), second)
    assert second.finish() == 0, second.output()
    counts.close()
    assert counts.seen == {word: list(range(1, count + 1)) for word, count in lines.written.items()}
