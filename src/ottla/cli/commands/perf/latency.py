"""`ottla perf latency`: sends one record, waits until a consumer has it, and again; nothing else is under way."""

import argparse
import os
import time
from typing import Final

from ottla.cli.broker_wait import BrokerWait
from ottla.cli.commands.perf.figure import latency_figures, show_latency
from ottla.cli.connection import client_settings
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.progress import Progress
from ottla.cli.output.quantity import counted
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition

_PATIENCE_S: Final = 30.0
_WARM_UP: Final = 10


def measure_latency(options: argparse.Namespace) -> int:
    """Measures and prints; the exit code."""
    settings = {**client_settings(options, PRODUCER_KEYS)}
    settings.setdefault("linger.ms", "0")
    reading = client_settings(options, CONSUMER_KEYS)
    reading.pop("group.id", None)
    reading["enable.auto.commit"] = "false"
    partition = TopicPartition(options.topic, 0)
    with BrokerWait(options.wait).made(lambda: Producer(settings)) as producer, Consumer(reading) as consumer:
        producer.partitions_for(options.topic)
        consumer.assign([partition])
        consumer.seek_to_end([partition])
        consumer.position(partition)
        seconds = _rounds(producer, consumer, options)
    figures = latency_figures(seconds)
    if options.json:
        print_document({"records": len(seconds), "latency": figures})
    else:
        print(f"{counted(len(seconds), 'record')}, from send() to poll()")
        show_latency(figures)
    return 0


def _rounds(producer: Producer, consumer: Consumer, options: argparse.Namespace) -> list[float]:
    """One record at a time; the first ones, which find cold connections, are not counted."""
    seconds = []
    with Progress("round trips", options.count) as progress:
        for number in range(options.count + _WARM_UP):
            value = os.urandom(options.size)
            started = time.perf_counter()
            producer.send(options.topic, value, partition=0)
            _await(consumer, value)
            if number >= _WARM_UP:
                seconds.append(time.perf_counter() - started)
                progress.update(len(seconds))
    return seconds


def _await(consumer: Consumer, value: bytes) -> None:
    """Until the record is there; records of others that come by are let pass."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if any(record.value == value for record in consumer.poll(1.0)):
            return
    raise CommandError(f"the record did not come back within {_PATIENCE_S:.0f} s; `ottla doctor` looks for the reason")
