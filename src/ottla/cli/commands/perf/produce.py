"""`ottla perf produce`: how many records a second one producer writes, and how long until they are acknowledged."""

import argparse
import os
import time
from collections.abc import Callable
from typing import Final

from ottla.cli.broker_wait import BrokerWait
from ottla.cli.commands.perf.figure import latency_figures, show_throughput
from ottla.cli.connection import client_settings
from ottla.cli.output.progress import Progress
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata

_SAMPLE_EVERY: Final = 100
"""One record of so many has its latency taken: a callback each would measure callbacks."""


def measure_produce(options: argparse.Namespace) -> int:
    """Writes the records and prints the figures; the exit code."""
    settings = client_settings(options, PRODUCER_KEYS)
    if options.compression is not None:
        settings["compression.type"] = options.compression
    if options.acks is not None:
        settings["acks"] = options.acks
        if options.acks != "all":
            settings.setdefault("enable.idempotence", "false")
    # Half text, half noise: neither all zeros, which compress to nothing, nor what can't be compressed at all.
    value = (os.urandom(options.size // 4).hex().encode() + b"x" * options.size)[: options.size]
    latencies = _Latencies()
    with BrokerWait(options.wait).made(lambda: Producer(settings)) as producer:
        producer.partitions_for(options.topic)
        started = time.perf_counter()
        _send(producer, options, value, latencies)
        producer.flush()
        seconds = time.perf_counter() - started
    latencies.check()
    figures = latency_figures(latencies.seconds)
    size = options.count * len(value)
    show_throughput(records=options.count, size_bytes=size, seconds=seconds, latencies_ms=figures, is_json=options.json)
    return 0


def _send(producer: Producer, options: argparse.Namespace, value: bytes, latencies: "_Latencies") -> None:
    send, topic = producer.send, options.topic
    started = time.perf_counter()
    with Progress("write", options.count) as progress:
        for number in range(options.count):
            if number % _SAMPLE_EVERY:
                send(topic, value)
                continue
            send(topic, value, on_delivery=latencies.timer())
            latencies.check()
            progress.update(number)
            if options.rate:
                _wait_until(started + number / options.rate)


def _wait_until(moment: float) -> None:
    left = moment - time.perf_counter()
    if left > 0:
        time.sleep(left)


class _Latencies:
    """Times from sending to acknowledgement, and the first failure."""

    def __init__(self) -> None:
        self.seconds: Final[list[float]] = []
        self._error: BaseException | None = None

    def timer(self) -> Callable[[RecordMetadata | None, BaseException | None], None]:
        """A delivery callback that notes how long it took."""
        started = time.perf_counter()

        def done(metadata: RecordMetadata | None, error: BaseException | None) -> None:
            if error is not None:
                self._error = self._error or error
            self.seconds.append(time.perf_counter() - started)

        return done

    def check(self) -> None:
        """Raises the first failure."""
        if self._error is not None:
            raise self._error
