"""A program: 400,000 records through an application on Spark, then some hundred one by one.

`python -m tests.bench.streams_query BOOTSTRAP count|minute` prints two numbers: microseconds of CPU a record, of this
session with all its processes but not of the broker; and the median of the milliseconds from produce to read.
"""

import os
import statistics
import sys
import tempfile
import time

from ottla.client import Consumer, Producer
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from ottla.pipelines.session import session
from ottla.pipelines.streams.kafka_streams import KafkaStreams
from ottla.streams.host.run_state import RunState
from tests.bench.session_cpu import session_cpu_seconds
from tests.bench.streams import SOURCE, TARGET, counting, records

_BATCHES = 8
_PARTITIONS = 2
_SINGLE = 100
_NOW_MS = 1_700_000_000_000


def main(bootstrap: str, name: str) -> None:
    """Runs it."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topics([NewTopic(topic, partitions=_PARTITIONS) for topic in (SOURCE, TARGET)], errors={})
    settings = {"spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g"}
    spark = session("bench", master="local[2,4]", settings=settings)
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as directory, Producer(bootstrap_servers=bootstrap) as producer:
        config = {
            "application.id": f"bench-{name}",
            "bootstrap.servers": bootstrap,
            "processing.guarantee": "exactly_once_v2",
            "state.dir": directory,
            "trigger.interval.ms": 0,
            "max.offsets.per.trigger": 100_000,
        }
        fill(producer, range(1))
        with KafkaStreams(counting(windowed=name == "minute"), config, spark=spark) as streams:
            assert streams.wait_for(RunState.RUNNING, 120), streams.failure
            wait_until_read(bootstrap, f"bench-{name}")
            began, own = session_cpu_seconds(os.getsid(0)), time.process_time()
            count = fill(producer, range(1, 1 + _BATCHES))
            wait_until_read(bootstrap, f"bench-{name}")
            # This process writes and waits; what the application does is done by others.
            cpu_s = session_cpu_seconds(os.getsid(0)) - began - (time.process_time() - own)
            latency_ms = single(bootstrap, producer)
    print(cpu_s / count * 1e6, latency_ms, flush=True)
    spark.stop()


def fill(producer: Producer, batches: range) -> int:
    """Writes records; how many."""
    count = 0
    for batch in batches:
        for record in records(batch):
            producer.send(SOURCE, key=record.key, value=record.value, timestamp_ms=_NOW_MS + record.timestamp)
            count += 1
    producer.flush()
    return count


def wait_until_read(bootstrap: str, group_id: str) -> None:
    """Until the group has all there is."""
    places = dict.fromkeys((TopicPartition(SOURCE, number) for number in range(_PARTITIONS)), OffsetSpec.LATEST)
    with Admin(bootstrap_servers=bootstrap) as admin:
        while True:
            ends = admin.list_offsets(places, isolation_level=IsolationLevel.READ_COMMITTED)
            found = admin.list_consumer_group_offsets({group_id: None})[group_id]
            committed = {place: at.offset for place, at in found.items() if at is not None}
            if all(committed.get(place, 0) >= end.offset for place, end in ends.items()):
                return
            time.sleep(0.2)


def single(bootstrap: str, producer: Producer) -> float:
    """The median of the time that one record takes, when nothing else is under way."""
    times = []
    with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
        places = [TopicPartition(TARGET, number) for number in range(_PARTITIONS)]
        consumer.assign(places)
        consumer.seek_to_end(places)
        for place in places:
            consumer.position(place)
        for number in range(_SINGLE):
            sent = time.perf_counter()
            producer.send(SOURCE, key=b"single %d" % number, value=b"x", timestamp_ms=_NOW_MS + 10_000_000)
            producer.flush()
            while not consumer.poll(1.0):
                pass
            times.append((time.perf_counter() - sent) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    main(*sys.argv[1:])
