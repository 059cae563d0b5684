"""A broker under librdkafka, through confluent-kafka in a process of its own (this module run as a program).

The client is the limit here more often than the broker; the broker's CPU tells the rest.
"""

import json
import subprocess
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.bench.broker_contender import cpu_seconds
from tests.bench.broker_frame import make_target
from tests.kafka.server import Server

_VALUE = bytes(100)


def measure(server: Server, *, records: int) -> dict[str, float]:
    """Rates of producing and consuming, and the broker's CPU for a gigabyte of values."""
    topic = make_target(server, "librdkafka").name
    gigabytes = records * len(_VALUE) / 1e9
    figures = {}
    for work in ("produce", "consume"):
        before = cpu_seconds(server.pid)
        command = [sys.executable, "-m", "tests.bench.broker_librdkafka", work, server.bootstrap, topic, str(records)]
        rate = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        figures[f"librdkafka {work}, 1/s"] = rate
        figures[f"librdkafka {work}, CPU s/GB"] = (cpu_seconds(server.pid) - before) / gigabytes
    return figures


def _produce(bootstrap: str, topic: str, records: int) -> float:
    settings = {"linger.ms": 20, "batch.num.messages": 100_000, "queue.buffering.max.messages": 1_000_000, "acks": 1}
    client = Producer({"bootstrap.servers": bootstrap, **settings})
    client.list_topics(topic, timeout=10)
    start = time.perf_counter()
    for number in range(records):
        try:
            client.produce(topic, _VALUE, partition=0)
        except BufferError:
            client.poll(0.1)
            client.produce(topic, _VALUE, partition=0)
        if number % 10_000 == 0:
            client.poll(0)
    left = client.flush(60)
    assert not left, f"{left} records were not taken"
    return records / (time.perf_counter() - start)


def _consume(bootstrap: str, topic: str, records: int) -> float:
    settings = {"group.id": "unused", "enable.auto.commit": False, "queued.min.messages": 1_000_000}
    client = Consumer({"bootstrap.servers": bootstrap, **settings})
    client.assign([TopicPartition(topic, 0, 0)])
    seen = len(client.consume(1, timeout=30))
    start = time.perf_counter()
    while seen < records:
        batch = client.consume(min(10_000, records - seen), timeout=30)
        assert batch, f"{seen} of {records} records"
        seen += len(batch)
    elapsed = time.perf_counter() - start
    client.close()
    return records / elapsed


if __name__ == "__main__":
    _, _work, _bootstrap, _topic, _records = sys.argv
    print((_produce if _work == "produce" else _consume)(_bootstrap, _topic, int(_records)))
