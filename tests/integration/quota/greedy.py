"""Clients that take what they can get, each in its own way: librdkafka, kafka-python, and Java's two tools.

What a client got is measured over a while after what is free at first is used up; for the tools, which say themselves
how long they took, what is free is taken off.
"""

import random
import re
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Final, Self

import confluent_kafka

import kafka
from tests.integration.quota.limited_server import WINDOW_S, LimitedServer
from tests.kafka.peer import java

VALUE: Final = random.Random(1).randbytes(1_000)
_PERFORMANCE: Final = "org.apache.kafka.tools.{}Performance"


class Load(ABC):
    """One client of one user; it runs in a thread of its own."""

    def __init__(self, server: LimitedServer, user: str, client_id: str, topic: str) -> None:
        self.server, self.user, self.client_id, self.topic = server, user, client_id, topic
        self.bytes = 0
        self.throttle_ms = 0.0
        """The longest wait that the client was told."""
        self._error: BaseException | None = None
        self.is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @abstractmethod
    def work(self) -> None:
        """Goes on until it is over."""

    def rate(self, seconds: float) -> float:
        """The bytes a second that it gets over a while."""
        before, began = self.bytes, time.monotonic()
        time.sleep(seconds)
        return (self.bytes - before) / (time.monotonic() - began)

    def _run(self) -> None:
        try:
            self.work()
        except Exception as error:  # noqa: BLE001 - the test hears it at the end
            self._error = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self._thread.join(120)
        assert self._error is None, self._error


class _Librdkafka(Load):
    def settings(self) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.server.bootstrap,
            "client.id": self.client_id,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": self.user,
            "sasl.password": "secret",
            "throttle_cb": self._throttled,
        }

    def _throttled(self, event: Any) -> None:
        self.throttle_ms = max(self.throttle_ms, 1000 * event.throttle_time)


class LibrdkafkaProducer(_Librdkafka):
    def work(self) -> None:
        more = {"linger.ms": 50, "batch.size": 32_768, "queue.buffering.max.kbytes": 256, "message.timeout.ms": 120_000}
        producer = confluent_kafka.Producer({**self.settings(), **more})
        while not self.is_over.is_set():
            try:
                producer.produce(self.topic, VALUE, on_delivery=self._delivered)
            except BufferError:
                producer.poll(0.01)
            producer.poll(0)
        producer.purge()
        producer.flush(10)

    def _delivered(self, error: object, _: object) -> None:
        self.bytes += len(VALUE) if error is None else 0


class LibrdkafkaConsumer(_Librdkafka):
    def work(self) -> None:
        more = {"group.id": f"g-{self.client_id}", "queued.max.messages.kbytes": 64, "check.crcs": False}
        consumer = confluent_kafka.Consumer({**self.settings(), **more})
        consumer.assign([confluent_kafka.TopicPartition(self.topic, 0, 0)])
        while not self.is_over.is_set():
            for message in consumer.consume(100, timeout=0.1):
                assert not message.error(), message.error()
                self.bytes += len(message.value())
        consumer.close()


class _KafkaPython(Load):
    def settings(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": self.server.bootstrap,
            "client_id": self.client_id,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": self.user,
            "sasl_plain_password": "secret",
        }

    def _look(self, metrics: dict[str, dict[str, float]]) -> None:
        for group in metrics.values():
            for name, value in group.items():
                if name.endswith("throttle-time-max") and value == value and value < float("inf"):
                    self.throttle_ms = max(self.throttle_ms, value)


class KafkaPythonProducer(_KafkaPython):
    def work(self) -> None:
        producer = kafka.KafkaProducer(**self.settings(), linger_ms=50, max_block_ms=120_000)
        under_way = threading.Semaphore(64)

        def delivered(_: object) -> None:
            self.bytes += len(VALUE)
            under_way.release()

        while not self.is_over.is_set():
            if under_way.acquire(timeout=0.1):
                producer.send(self.topic, VALUE).add_callback(delivered).add_errback(print)
        self._look(producer.metrics())
        producer.close(timeout=10)


class KafkaPythonConsumer(_KafkaPython):
    def work(self) -> None:
        consumer = kafka.KafkaConsumer(**self.settings(), group_id=None, auto_offset_reset="earliest")
        consumer.assign([kafka.TopicPartition(self.topic, 0)])
        consumer.seek_to_beginning()
        while not self.is_over.is_set():
            for records in consumer.poll(timeout_ms=100).values():
                self.bytes += sum(len(record.value) for record in records)
        self._look(consumer.metrics())
        consumer.close()


class _JavaTool(Load):
    """It moves a number of records, and says how long that took."""

    limit = 0.0
    seconds = 20.0
    """Long enough that the start of the JVM, which counts, does not weigh."""

    @property
    def count(self) -> int:
        return int(self.limit * (WINDOW_S + self.seconds)) // len(VALUE)

    def rate(self, seconds: float) -> float:
        self._thread.join(300)
        assert self._error is None, self._error
        return (self.bytes - self.limit * WINDOW_S) / self.seconds

    def config(self, directory: Path) -> str:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        path = directory / f"{type(self).__name__}-{self.client_id}.properties"
        path.write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nclient.id={self.client_id}\n"
            f'sasl.jaas.config={module} username="{self.user}" password="secret";\nlinger.ms=50\n'
        )
        return str(path)

    def _look(self, said: str) -> None:
        waits = re.findall(r"throttle-time-max\S*\s*:\s*([0-9.]+)", said)
        self.throttle_ms = max(map(float, waits), default=0.0)


class JavaProducer(_JavaTool):
    """`kafka-producer-perf-test.sh`."""

    def work(self) -> None:
        config = self.config(self.server.server.directory)
        given = ("--num-records", str(self.count), "--record-size", str(len(VALUE)), "--throughput", "-1")
        more = ("--topic", self.topic, "--command-config", config, "--print-metrics")
        where = ("--bootstrap-server", self.server.bootstrap)
        said = java(_PERFORMANCE.format("Producer"), *where, *given, *more, timeout=300)
        [(count, rate)] = re.findall(r"^(\d+) records sent, ([0-9.]+) records/sec.*99\.9th", said, re.MULTILINE)
        self.bytes, self.seconds = int(count) * len(VALUE), int(count) / float(rate)
        self._look(said)


class JavaConsumer(_JavaTool):
    """`kafka-consumer-perf-test.sh`."""

    def work(self) -> None:
        config = self.config(self.server.server.directory)
        given = ("--num-records", str(self.count), "--timeout", "60000", "--hide-header", "--print-metrics")
        more = ("--topic", self.topic, "--command-config", config, "--group", f"g-{self.client_id}")
        where = ("--bootstrap-server", self.server.bootstrap)
        said = java(_PERFORMANCE.format("Consumer"), *where, *given, *more, timeout=300)
        line = next(line for line in said.splitlines() if line.count(", ") >= 9)
        fields = line.split(", ")
        self.bytes, self.seconds = round(float(fields[2]) * 1024 * 1024), float(fields[7]) / 1000
        self._look(said)


def shown(loads: dict[str, tuple[Load, float, float]]) -> str:
    """A line for each: what its quota is, and what it got."""
    return "\n".join(
        f"{form:>16} {type(load).__name__:20} quota {limit:8,.0f}, got {got:8,.0f}, waits {load.throttle_ms:5.0f} ms"
        for form, (load, limit, got) in loads.items()
    )
