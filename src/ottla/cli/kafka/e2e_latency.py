"""`kafka-e2e-latency`: the time from sending a record to reading it, one record after the other. Output is Kafka's."""

import random
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import known_settings, properties_in
from ottla.cli.kafka.argument.option import ChosenOptions, Option, OptionTable, ToolError
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client import Consumer, Producer
    from ottla.client.consumer.fetch.record import Record

_POLL_S: Final = 60.0
_REQUIRED: Final = ("bootstrap-server", "topic", "num-records", "producer-acks", "record-size")
_POSITIONS: Final = (*_REQUIRED, "command-config")
_SIZES: Final = ("record-size", "record-key-size", "record-header-key-size", "record-header-size", "num-headers")
_POSITIONS_NOTE: Final = (
    "WARNING: Positional argument usage is deprecated and will be removed in Apache Kafka 5.0. Please use named "
    "arguments instead: --bootstrap-server, --topic, --num-records, --producer-acks, --record-size, --command-config"
)
_NOT_NEGATIVE: Final = "Value for --{} must be a non-negative integer."

OPTIONS: Final = OptionTable(
    "This tool measures end-to-end latency in Kafka by sending messages and timing their reception.",
    (
        Option("bootstrap-server", "REQUIRED: the brokers to connect to.", "bootstrap-server"),
        Option("topic", "REQUIRED: the topic to use.", "topic-name"),
        Option("num-records", "REQUIRED: how many records to send.", "count", "Integer"),
        Option("producer-acks", "REQUIRED: 1 or all.", "producer-acks"),
        Option("record-size", "REQUIRED: the size of a value.", "bytes", "Integer"),
        Option("record-key-size", "The size of a key.", "bytes", "Integer", is_optional=True, default="0"),
        Option("record-header-key-size", "The size of a header's name.", "bytes", "Integer", is_optional=True,
               default="0"),
        Option("record-header-size", "The size of a header's value; -1 for none.", "bytes", "Integer",
               is_optional=True, default="0"),
        Option("num-headers", "How many headers a record has.", "count", "Integer", is_optional=True, default="0"),
        Option("command-config", "A properties file with settings of the clients.", "config-file", is_optional=True),
    ),
)  # fmt: skip


class Payload(NamedTuple):
    """What one record is."""

    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...]


@tool_main()
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    given = _named(arguments)
    with OPTIONS.shown_for_errors():
        options = OPTIONS.parse(given)
        _check(options)
    _run(options)


def _named(arguments: list[str]) -> list[str]:
    """Positions, as older versions took them, by the names they have now."""
    if not arguments or any(f"--{name}" in arguments for name in _REQUIRED):
        return arguments
    if len(arguments) not in (5, 6):
        raise ToolError(
            f"Invalid number of arguments. Expected 5 or 6 positional arguments, but got {len(arguments)}. Usage: "
            "bootstrap-server topic num-records producer-acks record-size [optional] command-config"
        )
    print(_POSITIONS_NOTE)
    return [part for name, value in zip(_POSITIONS, arguments, strict=False) for part in (f"--{name}", value)]


def _check(options: ChosenOptions) -> None:
    options.require(*_REQUIRED)
    if options.text("producer-acks") not in ("1", "all"):
        options.fail(
            "Invalid value for --producer-acks. Latency testing requires synchronous acknowledgement. "
            "Please use '1' or 'all'."
        )
    if _size(options, "num-records") <= 0:
        options.fail("Value for --num-records must be a positive integer.")
    for name in ("record-size", "record-key-size", "record-header-key-size"):
        if _size(options, name) < 0:
            options.fail(_NOT_NEGATIVE.format(name))
    if _size(options, "record-header-size") < -1:
        options.fail("Value for --record-header-size must be a non-negative integer or -1 for null header value.")
    if _size(options, "num-headers") < 0:
        options.fail(_NOT_NEGATIVE.format("num-headers"))


def _size(options: ChosenOptions, name: str) -> int:
    return options.integer(name) or 0


def _run(options: ChosenOptions) -> None:
    from ottla.cli.kafka.argument.server_address import check_servers
    from ottla.client import Consumer, Producer
    from ottla.client.config.consumer import CONSUMER_KEYS
    from ottla.client.config.producer import PRODUCER_KEYS

    base = properties_in(options.text("command-config"))
    base["bootstrap.servers"] = options.required_text("bootstrap-server")
    check_servers(base["bootstrap.servers"], "Failed to construct kafka consumer")
    reading = base | {
        "group.id": f"test-group-{int(time.time() * 1000)}",
        "enable.auto.commit": "false",
        "auto.offset.reset": "latest",
        "fetch.max.wait.ms": "0",
    }
    sending = base | {"linger.ms": "0", "acks": options.required_text("producer-acks")}
    with (
        Consumer(known_settings(reading, CONSUMER_KEYS)) as consumer,
        Producer(known_settings(sending, PRODUCER_KEYS)) as producer,
    ):
        topic = options.required_text("topic")
        if topic not in consumer.list_topics():
            _create_topic(base, topic)
        _begin_at_end(consumer, topic)
        trip = _RoundTrip(options, producer, consumer)
        try:
            latencies_ns = [trip.run(number) for number in range(_size(options, "num-records"))]
        finally:
            consumer.commit()
    _print(latencies_ns)


def _create_topic(settings: dict[str, str], topic: str) -> None:
    from ottla.client import Admin, NewTopic
    from ottla.client.config.admin import ADMIN_KEYS

    print(f'Topic "{topic}" does not exist. Will create topic with 1 partition(s) and replication factor = 1')
    with Admin(known_settings(settings, ADMIN_KEYS)) as admin:
        try:
            admin.create_topics([NewTopic(topic, partitions=1, replication_factor=1)])
        except OttlaError:
            print(f"Creation of topic {topic} failed")
            raise


def _begin_at_end(consumer: "Consumer", topic: str) -> None:
    from ottla.client import TopicPartition

    count = len(consumer.partitions_for(topic).partitions)
    partitions = [TopicPartition(topic, number) for number in range(count)]
    consumer.assign(partitions)
    consumer.seek_to_end(partitions)
    for partition in partitions:
        consumer.position(partition)


class _RoundTrip:
    """Sends a record and reads it back."""

    def __init__(self, options: ChosenOptions, producer: "Producer", consumer: "Consumer") -> None:
        self._producer: Final = producer
        self._consumer: Final = consumer
        self._topic: Final = options.required_text("topic")
        self._sizes: Final = {name: _size(options, name) for name in _SIZES}
        self._random: Final = random.Random(0)

    def run(self, number: int) -> int:
        """The nanoseconds that it took; every thousandth is printed."""
        payload = self._payload()
        begin = time.perf_counter_ns()
        self._producer.send(self._topic, payload.value, payload.key, headers=payload.headers).result()
        records = self._consumer.poll(_POLL_S)
        elapsed = time.perf_counter_ns() - begin
        validate(payload, records)
        if number % 1000 == 0:
            print(f"{number}\t{elapsed / 1_000_000}")
        return elapsed

    def _payload(self) -> Payload:
        key, value = self._letters("record-key-size"), self._letters("record-size")
        has_value = self._sizes["record-header-size"] >= 0
        headers = tuple(
            (
                self._letters("record-header-key-size").decode(),
                self._letters("record-header-size") if has_value else None,
            )
            for _ in range(self._sizes["num-headers"])
        )
        return Payload(key, value, headers)

    def _letters(self, size: str) -> bytes:
        return bytes([self._random.randrange(65, 91)]) * self._sizes[size]


def validate(sent: Payload, records: "Sequence[Record]") -> None:
    """Raises `ToolError` unless exactly the record that was sent was read."""
    if not records:
        raise ToolError(f"poll() timed out before finding a result (timeout:[{round(_POLL_S * 1000)}ms])")
    read = records[0]
    if read.value != sent.value:
        raise ToolError(
            f"The message value read [{_text(read.value)}] did not match the message value sent [{_text(sent.value)}]"
        )
    if read.key != sent.key:
        raise ToolError(
            f"The message key read [{_text(read.key)}] did not match the message key sent [{_text(sent.key)}]"
        )
    if tuple(read.headers) != sent.headers:
        raise ToolError(f"The message headers read {read.headers} did not match those sent {sent.headers}")
    if len(records) != 1:
        raise ToolError(f"Only one result was expected during this test. We found [{len(records)}]")


def _text(data: bytes | None) -> str:
    return "null" if data is None else data.decode(errors="replace")


def _print(latencies_ns: list[int]) -> None:
    count = len(latencies_ns)
    print(f"Avg latency: {sum(latencies_ns) / count / 1_000_000:.4f} ms")
    ordered = sorted(latency // 1_000_000 for latency in latencies_ns)
    p50, p99, p999 = (ordered[int(count * part)] for part in (0.5, 0.99, 0.999))
    print(f"Percentiles: 50th = {p50}, 99th = {p99}, 99.9th = {p999}")


if __name__ == "__main__":
    sys.exit(main())
