"""The reading of `kafka-console-consumer`: polls, writes, counts, and says the count at the end."""

import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.base.errors import OttlaError
from ottla.cli.ending import leave_output
from ottla.cli.kafka.argument.server_address import check_servers
from ottla.cli.kafka.output.java_error import java_text, log_error
from ottla.cli.kafka.session.stop_signal import stop_signal
from ottla.client import Consumer, TopicPartition
from ottla.client.errors import KafkaTimeoutError, NoBrokersAvailableError, WakeupError

if TYPE_CHECKING:
    from ottla.cli.kafka.record.console_formatter import Formatter
    from ottla.client.consumer.fetch.record import Record

_LOGGER: Final = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_LONG_S: Final = 3600.0
_PAUSE_S: Final = 0.2


class ConsoleReading(NamedTuple):
    """What is to be read, and how it is written."""

    settings: Mapping[str, object]
    formatter: "Formatter"
    topic: str | None
    pattern: re.Pattern[str] | None
    partition: int | None
    offset: int
    max_messages: int | None
    timeout_ms: int | None
    skips_errors: bool


def read_records(reading: ConsoleReading) -> int:
    """Reads and writes until the limit, a time-out, or a stop; the exit code."""
    try:
        check_servers(str(reading.settings["bootstrap.servers"]), "Failed to construct kafka consumer")
        consumer = Consumer(reading.settings)
    except OttlaError as error:
        _say("Unknown error when running consumer: ", error)
        return 1
    printer = _Printer(reading, consumer)
    with stop_signal(consumer.wakeup) as stop:
        try:
            _begin(reading, consumer)
            printer.run()
        except OttlaError as error:
            _say("Unknown error when running consumer: ", error)
            return 1
        finally:
            printer.give_back()
            consumer.close()
            print(f"Processed a total of {printer.count} messages", file=sys.stderr)
    return stop.exit_code


def _begin(reading: ConsoleReading, consumer: Consumer) -> None:
    if reading.pattern is not None:
        consumer.subscribe(pattern=reading.pattern)
        return
    assert reading.topic is not None
    if reading.partition is None:
        consumer.subscribe([reading.topic])
        return
    partition = TopicPartition(reading.topic, reading.partition)
    consumer.assign([partition])
    if reading.offset == -2:
        consumer.seek_to_beginning([partition])
    elif reading.offset == -1:
        consumer.seek_to_end([partition])
    else:
        consumer.seek(partition, reading.offset)


class _Printer:
    """Writes what is polled."""

    def __init__(self, reading: ConsoleReading, consumer: Consumer) -> None:
        self.count = 0
        self._reading: Final = reading
        self._consumer: Final = consumer
        self._output: Final[IO[bytes]] = sys.stdout.buffer
        self._left: Sequence[Record] = ()
        """Polled and not written."""

    def run(self) -> None:
        """Until the end; raises what a formatter says about a record that it can't write."""
        limit = self._reading.max_messages
        while limit is None or limit == -1 or self.count < limit:
            try:
                records = self._receive()
            except WakeupError:
                return
            except ConfigError:
                # Java looks at the settings before it reads.
                raise
            except OttlaError as error:
                _say("Error processing message, terminating consumer process: ", error)
                return
            room = len(records) if limit is None or limit == -1 else limit - self.count
            self._left = records[room:]
            if not self._write(records[:room]):
                return

    def _receive(self) -> "Sequence[Record]":
        """The next records; `KafkaTimeoutError` if there are none for too long."""
        timeout_ms = self._reading.timeout_ms
        deadline = time.monotonic() + (_LONG_S if timeout_ms is None else timeout_ms / 1000)
        while True:
            try:
                records = self._consumer.poll(max(0.0, deadline - time.monotonic()))
            except NoBrokersAvailableError:
                # It may be starting; only --timeout-ms ends the wait, as in Kafka.
                records = None
                time.sleep(_PAUSE_S)
            if records:
                return records
            if timeout_ms is not None and time.monotonic() >= deadline:
                raise KafkaTimeoutError("")
            if timeout_ms is None:
                deadline = time.monotonic() + _LONG_S

    def _write(self, records: "Sequence[Record]") -> bool:
        """Whether the output still has a reader."""
        parts: list[bytes] = []
        format_record = self._reading.formatter.format
        try:
            for number, record in enumerate(records, start=1):
                self.count += 1
                try:
                    parts.append(format_record(record))
                except OttlaError as error:
                    if not self._reading.skips_errors:
                        self._left = [*records[number:], *self._left]
                        raise
                    _say("Error processing message, skipping this message: ", error)
        finally:
            is_read = self._put(b"".join(parts))
        return is_read

    def _put(self, data: bytes) -> bool:
        try:
            self._output.write(data)
            self._output.flush()
        except BrokenPipeError:
            print("Unable to write to standard out, closing consumer.", file=sys.stderr)
            leave_output()
            return False
        return True

    def give_back(self) -> None:
        """Goes back to the first record of each partition that was not written, so that it is not committed."""
        first: dict[TopicPartition, int] = {}
        for record in self._left:
            first.setdefault(TopicPartition(record.topic, record.partition), record.offset)
        for partition, offset in first.items():
            if partition in self._consumer.assignment():
                self._consumer.seek(partition, offset)


def _say(message: str, error: OttlaError) -> None:
    log_error(message, _LOGGER)
    print(java_text(error).removesuffix(": "), file=sys.stderr)
