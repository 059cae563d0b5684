"""A program: records through an application on Spark or on Kafka Streams, from topic to topic, exactly once.

`python -m tests.bench.streams_query BOOTSTRAP spark|rocksdb|memory stateless|count|minute RECORDS` prints three
numbers: records a second, of a backlog, between the first and the last commit; microseconds of CPU a record, of the
application with all its processes but not of the broker; and the median of the milliseconds from produce to read of
records that come by the thousand a second.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ottla.client import Consumer, Producer
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from tests.bench.session_cpu import session_cpu_seconds
from tests.bench.streams import SOURCE, TARGET, records, topology
from tests.kafka.peer import jar_directory

_PARTITIONS = 2
_PER_SECOND = 1_000
_LATENCY_S = 8
_START_MS = int(time.time() * 1000)
_LATER_MS = 1_500_000
"""When the paced records are, after the backlog: retention takes what is old, and brokers refuse what is far ahead."""
_PLACES = [TopicPartition(SOURCE, number) for number in range(_PARTITIONS)]


def main(bootstrap: str, contender: str, name: str, count: str) -> None:
    """Runs it."""
    application_id = f"bench-{name}"
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topics([NewTopic(topic, partitions=_PARTITIONS) for topic in (SOURCE, TARGET)], errors={})
        with Producer(bootstrap_servers=bootstrap) as producer:
            fill(producer, int(count))
            start = running_spark if contender == "spark" else running_kafka
            with tempfile.TemporaryDirectory() as directory, start((bootstrap, directory), name, contender):
                rate, micros = backlog(admin, application_id)
                latency_ms = paced(bootstrap, producer)
    print(rate, micros, latency_ms, flush=True)


@contextmanager
def running_spark(place: tuple[str, str], name: str, contender: str) -> Iterator[None]:
    """Our application on Spark."""
    from ottla.pipelines.session import session
    from ottla.pipelines.streams.kafka_streams import DRIVER_SETTINGS, KafkaStreams

    bootstrap, directory = place
    settings = {**DRIVER_SETTINGS, "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g"}
    spark = session("bench", master="local[2,4]", settings=settings)
    spark.sparkContext.setLogLevel("ERROR")
    config = {
        "application.id": f"bench-{name}",
        "bootstrap.servers": bootstrap,
        "processing.guarantee": "exactly_once_v2",
        "state.dir": directory,
        "trigger.interval.ms": 0,
        "max.offsets.per.trigger": 100_000,
    }
    with KafkaStreams(topology(name), config, spark=spark):
        yield
    spark.stop()


@contextmanager
def running_kafka(place: tuple[str, str], name: str, contender: str) -> Iterator[None]:
    """Kafka Streams, with the flags of its own start script."""
    bootstrap, directory = place
    program = str(Path(__file__).parent / "java" / "StreamsBench.java")
    flags = ("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
    arguments = (program, bootstrap, f"bench-{name}", directory, name, contender)
    command = ["java", *flags, "-cp", f"{jar_directory()}/*", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        yield
        assert process.stdin is not None
        process.stdin.close()
        process.wait(120)


def fill(producer: Producer, count: int) -> None:
    """Writes records."""
    for record in records(range(count)):
        producer.send(SOURCE, key=record.key, value=record.value, timestamp_ms=_START_MS + record.timestamp)
    producer.flush()


def backlog(admin: Admin, application_id: str) -> tuple[float, float]:
    """Records a second and microseconds of CPU, from the first commit of the group to the last."""
    ends = admin.list_offsets(dict.fromkeys(_PLACES, OffsetSpec.LATEST), isolation_level=IsolationLevel.READ_COMMITTED)
    wanted = sum(end.offset for end in ends.values())
    first: tuple[int, float, float] | None = None
    while True:
        done = committed(admin, application_id)
        if first is None and done >= wanted // 5:
            first = done, time.perf_counter(), used_s()
        if first is not None and done >= wanted:
            count = done - first[0]
            return count / (time.perf_counter() - first[1]), (used_s() - first[2]) / count * 1e6
        time.sleep(0.02)


def committed(admin: Admin, application_id: str) -> int:
    """How many records the group has behind it."""
    found = admin.list_consumer_group_offsets({application_id: None})[application_id]
    return sum(at.offset for place, at in found.items() if at is not None and place.topic == SOURCE)


def used_s() -> float:
    """CPU of the session but for this process, which only looks on."""
    return session_cpu_seconds(os.getsid(0)) - time.process_time()


def paced(bootstrap: str, producer: Producer) -> float:
    """The median of the time that records take which come at an even pace; the first seconds warm up."""
    sent: dict[bytes, float] = {}
    times: list[float] = []
    total = _PER_SECOND * _LATENCY_S

    def send() -> None:
        began = time.perf_counter()
        for number in range(total):
            time.sleep(max(began + number / _PER_SECOND - time.perf_counter(), 0))
            key = b"paced %d" % number
            sent[key] = time.perf_counter()
            producer.send(SOURCE, key=key, value=b"x", timestamp_ms=_START_MS + _LATER_MS)

    with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
        places = [TopicPartition(TARGET, number) for number in range(_PARTITIONS)]
        consumer.assign(places)
        consumer.seek_to_end(places)
        for place in places:
            consumer.position(place)
        thread = threading.Thread(target=send)
        thread.start()
        seen = 0
        while seen < total:
            for record in consumer.poll(1.0):
                key = (record.key or b"").partition(b"@")[0]
                seen += 1
                if int(key.partition(b" ")[2]) >= total // 4:
                    times.append(time.perf_counter() - sent[key])
        thread.join()
    return statistics.median(times) * 1_000


if __name__ == "__main__":
    main(*sys.argv[1:])
