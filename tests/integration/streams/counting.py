"""Applications that count, what feeds them, and what has to come out.

As a program it counts in a process that tests kill: `python -m tests.integration.streams.counting BOOTSTRAP DIRECTORY
SOURCE TARGET [SETTING=VALUE …]`, with the application's id `counting`, until its standard input ends.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.streams import Consumed, Grouped, KafkaStreams, Materialized, Produced, Serdes, StreamsBuilder, Topology
from ottla.streams.local.kafka_streams import KafkaStreams as LocalStreams

TEXT: Final = Serdes.string()
PATIENCE_S: Final = 90
STORE: Final = "counts"


def counting(source: str, target: str, materialized: Materialized[Any, Any] | None = None) -> Topology:
    """Counts the values of a topic: the key changes on the way, so that records pass a repartition topic."""
    builder = StreamsBuilder()
    grouped = builder.stream(source, Consumed.with_(TEXT, TEXT)).group_by(lambda k, v: v, Grouped.with_(TEXT, TEXT))
    counts = grouped.count(materialized_as=materialized or Materialized.as_(STORE))
    counts.to_stream().to(target, Produced.with_(TEXT, Serdes.long()))
    return builder.build()


def local(topology: Topology, bootstrap: str, **config: Any) -> LocalStreams:
    """An instance on the local host; settings with underscores."""
    given: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "replication.factor": "1",
        "commit.interval.ms": "50",
        "heartbeat.interval.ms": "300",
    }
    given |= {name.replace("_", "."): value for name, value in config.items()}
    return KafkaStreams(topology, given, host="local")


def produce(bootstrap: str, topic: str, values: Iterable[str]) -> None:
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number, value in enumerate(values):
            producer.send(topic, key=str(number).encode(), value=value.encode(), timestamp_ms=1_000 + number)
        producer.flush()


def read(bootstrap: str, topic: str, partitions: int = 2) -> list[tuple[str, bytes]]:
    """All committed records, as key and value."""
    with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
        places = [TopicPartition(topic, number) for number in range(partitions)]
        consumer.assign(places)
        consumer.seek_to_beginning(places)
        ends = consumer.end_offsets(places)
        found = []
        while any(consumer.position(place) < ends[place] for place in places):
            found += [((record.key or b"").decode(), record.value or b"") for record in consumer.poll(0.1)]
        return found


def counts(bootstrap: str, topic: str, partitions: int = 2) -> dict[str, list[int]]:
    """What was counted, in order."""
    found: dict[str, list[int]] = {}
    for key, value in read(bootstrap, topic, partitions):
        found.setdefault(key, []).append(int.from_bytes(value, "big"))
    return found


def expected(values: Iterable[str]) -> dict[str, list[int]]:
    """Each count once, and in order: nothing is lost, nothing doubled."""
    return {value: list(range(1, count + 1)) for value, count in Counter(values).items()}


def unaccounted(values: Iterable[str], found: dict[str, list[int]], guarantee: str) -> dict[str, Any]:
    """What is wrong with the counts of these values: nothing may be lost, nor doubled if it is exactly once.

    At least once a record may be counted again, and a count of which only the changelog had heard is not written again;
    but each record gives an output, and is in the last count.
    """
    wanted = expected(values)
    if guarantee == "exactly_once_v2":
        return {key: (found.get(key), right) for key, right in wanted.items() if found.get(key) != right}
    return {
        key: (found.get(key), right)
        for key, right in wanted.items()
        if len(found.get(key, [])) < len(right) or found[key][-1] < right[-1]
    }


def wait_until(condition: Callable[[], bool], *streams: LocalStreams) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        for one in streams:
            assert one.failure is None, one.failure
        assert time.monotonic() < deadline
        time.sleep(0.05)


def main(bootstrap: str, directory: str, source: str, target: str, *more: str) -> int:
    """Counts until standard input ends."""
    config = {
        "application_id": "counting",
        "state_dir": directory,
        "processing_guarantee": "exactly_once_v2",
        "session_timeout_ms": "3000",
        "heartbeat_interval_ms": "500",
        **dict(one.split("=", 1) for one in more),
    }
    with local(counting(source, target), bootstrap, **config) as streams:
        print("started", flush=True)
        sys.stdin.read()
        return 0 if streams.failure is None else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
