"""Consuming records of 100 bytes from one broker: ours beside confluent-kafka and aiokafka

All consumers read one topic of one partition from its start to its end, over and over, in fetches of up to 8 MiB;
the broker is Ottla, in a process of its own.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import confluent_kafka
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Producer

from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.consumer.consumer import Consumer
from ottla.client.record import TopicPartition
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure, compare
from tests.clients.server import OTTLA

_TOPIC = "consumed"
_RECORDS = 5_000_000
"""Five times what confluent-kafka fetches ahead: it is reading on that counts, not the start."""
_POLL = 10_000
_FETCH_BYTES = 8 << 20
_WAIT_MS = 5
"""At the end of the topic a fetch waits for more, and a consumer that starts again waits for that fetch first."""
_PARTITION = TopicPartition(_TOPIC, 0)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Records per second: to Python objects, to Arrow, and with asyncio."""
    with contender(OTTLA) as server, ExitStack() as stack:
        server.start()
        _fill(server.bootstrap)
        rdkafka = _confluent(server.bootstrap, stack)
        ours = Consumer(_settings(server.bootstrap))
        stack.callback(ours.close)
        ours.assign([_PARTITION])
        yield compare(
            f"poll() of up to {_POLL:,} records",
            "records",
            {"ours": lambda: _poll(ours), "confluent-kafka": rdkafka},
            _RECORDS,
            seconds=seconds,
            target="> 1×",
        )
        yield compare(
            "poll_arrow()",
            "records",
            {"ours": lambda: _poll_arrow(ours), "confluent-kafka": rdkafka},
            _RECORDS,
            seconds=seconds,
            target="≥ 10×",
        )
        yield _asyncio(server.bootstrap, seconds)


def _settings(bootstrap: str) -> dict[str, object]:
    return {
        "bootstrap.servers": bootstrap,
        "auto.offset.reset": "earliest",
        "max.poll.records": _POLL,
        "max.partition.fetch.bytes": _FETCH_BYTES,
        "fetch.max.wait.ms": _WAIT_MS,
    }


def _fill(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "batch.num.messages": 100_000})
    value = bytes(100)
    for _ in range(_RECORDS):
        try:
            producer.produce(_TOPIC, value, partition=0)
        except BufferError:
            producer.poll(0.5)
            producer.produce(_TOPIC, value, partition=0)
    left = producer.flush(60)
    assert not left, f"{left} records were not taken"


def _confluent(bootstrap: str, stack: ExitStack) -> Callable[[], None]:
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "queued.min.messages": 1_000_000,
        "fetch.message.max.bytes": _FETCH_BYTES,
        "fetch.wait.max.ms": _WAIT_MS,
    }
    client = confluent_kafka.Consumer(settings)
    stack.callback(client.close)
    start = confluent_kafka.TopicPartition(_TOPIC, 0, 0)

    def read() -> None:
        client.assign([start])
        seen = 0
        while seen < _RECORDS:
            seen += len(client.consume(_POLL, timeout=30))

    return read


def _poll(consumer: Consumer) -> None:
    consumer.seek(_PARTITION, 0)
    seen = 0
    while seen < _RECORDS:
        seen += len(consumer.poll(30))


def _poll_arrow(consumer: Consumer) -> None:
    consumer.seek(_PARTITION, 0)
    seen = 0
    while seen < _RECORDS:
        seen += consumer.poll_arrow(30).num_rows


def _asyncio(bootstrap: str, seconds: float) -> Figure:
    """Two consumers in one event loop, one after the other."""
    with asyncio.Runner() as runner:
        ours = AsyncConsumer(_settings(bootstrap))
        ours.assign([_PARTITION])
        theirs = runner.run(_aiokafka(bootstrap))
        try:
            return compare(
                f"asyncio, poll() of up to {_POLL:,} records",
                "records",
                {"ours": lambda: runner.run(_await_poll(ours)), "aiokafka": lambda: runner.run(_await_getmany(theirs))},
                _RECORDS,
                seconds=seconds,
                target="≥ 3×",
            )
        finally:
            runner.run(ours.close())
            runner.run(theirs.stop())


async def _aiokafka(bootstrap: str) -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, max_partition_fetch_bytes=_FETCH_BYTES, fetch_max_wait_ms=_WAIT_MS
    )
    await consumer.start()
    consumer.assign([AioPartition(_TOPIC, 0)])
    return consumer


async def _await_poll(consumer: AsyncConsumer) -> None:
    consumer.seek(_PARTITION, 0)
    seen = 0
    while seen < _RECORDS:
        seen += len(await consumer.poll(30))


async def _await_getmany(consumer: AIOKafkaConsumer) -> None:
    consumer.seek(AioPartition(_TOPIC, 0), 0)
    seen = 0
    while seen < _RECORDS:
        found = await consumer.getmany(timeout_ms=30_000, max_records=_POLL)
        seen += sum(map(len, found.values()))
