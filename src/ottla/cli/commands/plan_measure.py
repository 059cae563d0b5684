"""Measures the rates of one partition here: writes to a topic made for it for some seconds, and reads that back."""

import argparse
import os
import time
import uuid
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.cli.connection import client_settings, run_admin
from ottla.cli.output.advice import CommandError
from ottla.cli.output.progress import Progress
from ottla.cli.output.quantity import bytes_text
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition

_BURST: Final = 200
_SILENCE_S: Final = 10.0


class Measured(NamedTuple):
    """Bytes of values per second."""

    produce: float
    consume: float


def measure(options: argparse.Namespace) -> Measured:
    """Makes a topic of one partition, measures, and deletes it whatever happens."""
    if options.size < 1 or options.seconds <= 0:
        raise CommandError("--size and --seconds have to be more than nothing")
    topic = f"ottla-plan-{uuid.uuid4().hex[:8]}"

    async def create(admin: AsyncAdmin, options: argparse.Namespace) -> int:
        brokers = (await admin.describe_cluster()).nodes
        await admin.create_topics([NewTopic(topic, 1, min(options.replicas, len(brokers)))])
        return 0

    async def delete(admin: AsyncAdmin, options: argparse.Namespace) -> int:
        await admin.delete_topics([topic])
        return 0

    run_admin(options, create)
    try:
        count, produce = _produce(client_settings(options, PRODUCER_KEYS), topic, options)
        consume = _consume(client_settings(options, CONSUMER_KEYS), topic, count, options.size)
    finally:
        run_admin(options, delete)
    return Measured(produce, consume)


def _produce(settings: Mapping[str, object], topic: str, options: argparse.Namespace) -> tuple[int, float]:
    value = (os.urandom(options.size // 4).hex().encode() + b"x" * options.size)[: options.size]
    count, failed = 0, []

    def done(_metadata: object, error: BaseException | None) -> None:
        if error is not None:
            failed.append(error)

    with Producer({"acks": "all", **settings}) as producer, Progress("write", amount=bytes_text) as progress:
        producer.partitions_for(topic)
        started = time.perf_counter()
        while time.perf_counter() - started < options.seconds and not failed:
            for _ in range(_BURST):
                producer.send(topic, value, on_delivery=done)
            count += _BURST
            progress.update(count * options.size)
        producer.flush()
        seconds = time.perf_counter() - started
    if failed:
        raise failed[0]
    return count, count * options.size / seconds


def _consume(settings: Mapping[str, object], topic: str, count: int, size: int) -> float:
    own = {"auto.offset.reset": "earliest", "enable.auto.commit": "false", "max.poll.records": "10000"}
    kept = {name: value for name, value in settings.items() if name != "group.id"}
    done = 0
    with Consumer({**own, **kept}) as consumer, Progress("read", count * size, amount=bytes_text) as progress:
        consumer.assign([TopicPartition(topic, 0)])
        started = heard = time.perf_counter()
        while done < count:
            found = len(consumer.poll(1))
            now = time.perf_counter()
            if found:
                done, heard = done + found, now
            elif now - heard > _SILENCE_S:
                raise CommandError(f"{topic} gave {done:,} of {count:,} records; `ottla doctor` looks for the reason")
            progress.update(done * size)
        seconds = time.perf_counter() - started
    return count * size / seconds
