"""Producing from Python, 100 B values, one partition, acks=1, against one Ottla broker

Each contender runs in a process of its own (this module run as a program) and takes its turn with the others; the best
of its rounds counts. confluent-kafka is tuned as its users tune it for throughput.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from tests.bench.broker_contender import contender, touch_memory
from tests.bench.broker_frame import make_target
from tests.bench.measure import Figure
from tests.clients.server import OTTLA
from tests.kafka.server import Server

_VALUE = bytes(100)
_STORED_BYTES = 110
"""Of a record, at most."""
_ROUND_TRIPS = 2_000
# Five times what confluent-kafka's queue holds: it is how fast records leave that counts, not how fast a queue fills.
_RECORDS = {
    "ours": 5_000_000,
    "confluent": 5_000_000,
    "arrow": 5_000_000,
    "asyncio": 400_000,
    "aiokafka": 100_000,
    "round_trip": _ROUND_TRIPS,
    "confluent_round_trip": _ROUND_TRIPS,
}
_TUNED = {"linger_ms": 20, "batch_size": 1_000_000, "acks": 1}


def figures(*, seconds: float) -> Iterator[Figure]:
    """Rates of four ways to send, and the latency of one record at a time."""
    with contender(OTTLA) as server:
        server.start()
        best = _best(server, rounds=max(2, round(seconds)))
    peer = {"confluent-kafka": best["confluent"]}
    yield Figure("send() per record", "records", best["ours"], peer, "> 1×")
    yield Figure("send_arrow()", "records", best["arrow"], peer, "≥ 10×")
    yield Figure("asyncio", "records", best["asyncio"], {"aiokafka": best["aiokafka"]}, "≥ 3×")
    peer = {"confluent-kafka": best["confluent_round_trip"]}
    yield Figure("round trips, one in flight (1 / p50)", "round trips", best["round_trip"], peer, "≥ 1×")


def _best(server: Server, *, rounds: int) -> dict[str, float]:
    best = dict.fromkeys(_RECORDS, 0.0)
    for turn in range(rounds):
        topic = make_target(server, f"producer-{turn}").name
        for name, records in _RECORDS.items():
            touch_memory(server.directory, records * _STORED_BYTES)
            command = [sys.executable, "-m", "tests.bench.client_producer", name, server.bootstrap, topic, str(records)]
            found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            best[name] = max(best[name], json.loads(found))
    return best


def _ours(bootstrap: str, topic: str, records: int) -> float:
    from ottla.client.producer.producer import Producer

    with Producer(bootstrap_servers=bootstrap, **_TUNED) as producer:
        producer.partitions_for(topic)
        start = time.perf_counter()
        for _ in range(records):
            producer.send(topic, _VALUE, partition=0)
        producer.flush()
        return records / (time.perf_counter() - start)


def _arrow(bootstrap: str, topic: str, records: int) -> float:
    import pyarrow as pa

    from ottla.client.producer.producer import Producer

    table = pa.table({"value": pa.array([_VALUE] * 100_000)})
    with Producer(bootstrap_servers=bootstrap, **_TUNED) as producer:
        producer.partitions_for(topic)
        start = time.perf_counter()
        for _ in range(records // table.num_rows):
            producer.send_arrow(topic, table, partition_by=0)
        producer.flush()
        return records / (time.perf_counter() - start)


def _confluent(bootstrap: str, topic: str, records: int) -> float:
    from confluent_kafka import Producer

    settings = {"linger.ms": 20, "batch.num.messages": 100_000, "queue.buffering.max.messages": 1_000_000, "acks": 1}
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    producer.list_topics(topic, timeout=10)
    start = time.perf_counter()
    for number in range(records):
        try:
            producer.produce(topic, _VALUE, partition=0)
        except BufferError:
            producer.poll(0.1)
            producer.produce(topic, _VALUE, partition=0)
        if number % 10_000 == 0:
            producer.poll(0)
    assert not producer.flush(60)
    return records / (time.perf_counter() - start)


def _asyncio(bootstrap: str, topic: str, records: int) -> float:
    from ottla.client.producer.async_producer import AsyncProducer

    async def run() -> float:
        async with AsyncProducer(bootstrap_servers=bootstrap, **_TUNED) as producer:
            await producer.partitions_for(topic)
            start = time.perf_counter()
            for _ in range(records):
                await producer.enqueue(topic, _VALUE, partition=0)
            await producer.flush()
            return records / (time.perf_counter() - start)

    return asyncio.run(run())


def _aiokafka(bootstrap: str, topic: str, records: int) -> float:
    from aiokafka import AIOKafkaProducer

    async def run() -> float:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=20, max_batch_size=1_000_000, acks=1)
        await producer.start()
        try:
            await producer.partitions_for(topic)
            start = time.perf_counter()
            for _ in range(records):
                await producer.send(topic, _VALUE, partition=0)
            await producer.flush()
            return records / (time.perf_counter() - start)
        finally:
            await producer.stop()

    return asyncio.run(run())


def _round_trip(bootstrap: str, topic: str, records: int) -> float:
    from ottla.client.producer.producer import Producer

    with Producer(bootstrap_servers=bootstrap, linger_ms=0, acks=1) as producer:
        producer.partitions_for(topic)
        return _trips_per_second(records, lambda: producer.send(topic, _VALUE, partition=0).result(10))


def _confluent_round_trip(bootstrap: str, topic: str, records: int) -> float:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "acks": 1})
    producer.list_topics(topic, timeout=10)

    def trip() -> None:
        producer.produce(topic, _VALUE, partition=0)
        assert not producer.flush(10)

    return _trips_per_second(records, trip)


def _trips_per_second(records: int, trip: Callable[[], object]) -> float:
    """One over the median."""
    spans = []
    for _ in range(records):
        start = time.perf_counter()
        trip()
        spans.append(time.perf_counter() - start)
    return 1 / statistics.median(spans)


_CONTENDERS = {
    "ours": _ours,
    "confluent": _confluent,
    "arrow": _arrow,
    "asyncio": _asyncio,
    "aiokafka": _aiokafka,
    "round_trip": _round_trip,
    "confluent_round_trip": _confluent_round_trip,
}

if __name__ == "__main__":
    _, _name, _bootstrap, _topic, _count = sys.argv
    print(_CONTENDERS[_name](_bootstrap, _topic, int(_count)))
