"""Spark, a stream from topic to topic at 10,000 records of 100 bytes a second: how long a record takes

From just before it is produced until a consumer has it from the target topic, on the profile of `session()`, with
Spark's own Kafka connector on Spark's defaults beside it. Both run alone, one after the other, warmed up first.
"""

import struct
import threading
import time
from collections.abc import Iterator

from ottla.client import Consumer, Producer
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure
from tests.bench.spark_driver import OURS, Driver, drivers
from tests.clients.server import OTTLA

_PER_SECOND = 10_000
_TICK_S = 0.01
_PARTITIONS = 2
_SENT_AT = struct.Struct(">q")
_VALUE = bytes(100 - _SENT_AT.size)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Milliseconds, less is better."""
    warm_s, measured_s = (5.0, 5.0) if seconds < 1 else (15.0, 20.0)
    found: dict[str, list[float]] = {}
    batches: dict[str, float] = {}
    with contender(OTTLA) as server:
        server.start()
        with drivers(server) as contenders, Admin(bootstrap_servers=server.bootstrap) as admin:
            for number, (who, driver) in enumerate(contenders.items()):
                topics = f"in-{number}", f"out-{number}"
                admin.create_topics([NewTopic(name, partitions=_PARTITIONS, replication_factor=1) for name in topics])
                found[who], batches[who] = _measure(driver, server.bootstrap, topics, warm_s, measured_s)
    for name, target, share in (("produce → sink, median", "≤ 200 ms", 0.5), ("produce → sink, 95 %", "", 0.95)):
        times = {who: sorted(each)[int(len(each) * share)] for who, each in found.items()}
        yield Figure(name, "ms", times.pop(OURS), times, target, per="")
    yield Figure("of which a micro-batch, median", "ms", batches.pop(OURS), batches, per="")


def _measure(
    driver: Driver, bootstrap: str, topics: tuple[str, str], warm_s: float, measured_s: float
) -> tuple[list[float], float]:
    """How long records took, in milliseconds, and the median of the micro-batches."""
    source, target = topics
    ended = threading.Event()
    driver.ask("start", source, target)
    load = threading.Thread(target=produce, args=(bootstrap, source, ended, _PER_SECOND))
    load.start()
    try:
        with Consumer(bootstrap_servers=bootstrap) as consumer:
            partitions = [TopicPartition(target, number) for number in range(_PARTITIONS)]
            consumer.assign(partitions)
            consumer.seek_to_end(partitions)
            consume(consumer, warm_s)
            times = consume(consumer, measured_s)
    finally:
        ended.set()
        load.join()
    _, batch_ms = driver.ask("stop")
    wanted = _PER_SECOND * measured_s
    assert len(times) > wanted / 2, f"{len(times)} of {wanted:.0f} records came through"
    return times, batch_ms


def produce(bootstrap: str, topic: str, ended: threading.Event, per_second: int) -> None:
    """An even load; what is late is sent at once, with the time at which it was due."""
    with Producer(bootstrap_servers=bootstrap, linger_ms=1) as producer:
        due = time.monotonic_ns()
        while not ended.is_set():
            due += int(_TICK_S * 1e9)
            time.sleep(max(0.0, (due - time.monotonic_ns()) / 1e9))
            value = _SENT_AT.pack(due) + _VALUE
            for number in range(int(per_second * _TICK_S)):
                producer.send(topic, value=value, partition=number % _PARTITIONS)


def consume(consumer: Consumer, seconds: float) -> list[float]:
    """How long each record was on its way that comes within some seconds."""
    found = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        records = consumer.poll(0.1)
        now = time.monotonic_ns()
        found += [(now - _SENT_AT.unpack_from(record.value)[0]) / 1e6 for record in records]
    return found
