"""`ottla produce` at work: reads lines, sends records, and tells how it went.

A record that can't be delivered ends the command with its error, since what comes after it may depend on it.
"""

import argparse
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ottla.cli.broker_wait import BrokerWait
from ottla.cli.commands.records.produce_line import LineError, LineForm, line_reader
from ottla.cli.commands.topics.name import no_topic
from ottla.cli.connection import client_settings, key_value
from ottla.cli.connection_news import connection_news
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.progress import Progress
from ottla.cli.output.quantity import bytes_text, counted
from ottla.cli.output.style import Style, Tone
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.producer.producer import Producer
from ottla.client.record import RecordMetadata
from ottla.protocol.errors import UnknownTopicOrPartitionError

_LOOK_FOR_TOPIC_MS: Final = "10000"


def send(options: argparse.Namespace) -> int:
    """Sends every line; the exit code."""
    deliveries = _Deliveries()
    source = _Source(options.file)
    is_typed = not options.file and sys.stdin.isatty()
    with connection_news(), BrokerWait(options.wait).made(lambda: Producer(_settings(options))) as producer:
        if is_typed:
            _hint(f"A record per line to {options.topic}. Ctrl-D ends.")
        _send_all(producer, options, source, deliveries, is_typed=is_typed)
        producer.flush()
    deliveries.check()
    _tell(options, deliveries)
    return 0


def _settings(options: argparse.Namespace) -> dict[str, object]:
    settings = client_settings(options, PRODUCER_KEYS)
    settings.setdefault("max.block.ms", _LOOK_FOR_TOPIC_MS)
    if options.compression is not None:
        settings["compression.type"] = options.compression
    if options.acks is not None:
        settings["acks"] = options.acks
        if options.acks != "all":
            settings.setdefault("enable.idempotence", "false")
    return settings


def _form(options: argparse.Namespace) -> LineForm:
    separator = options.key_separator
    headers = tuple((name, value.encode()) for name, value in (key_value(text, "--header") for text in options.header))
    return LineForm(
        None if separator is None else separator.replace("\\t", "\t").encode(),
        None if options.null is None else options.null.encode(),
        None if options.key is None else options.key.encode(),
        headers,
        options.partition,
    )


def _send_all(
    producer: Producer, options: argparse.Namespace, source: "_Source", deliveries: "_Deliveries", *, is_typed: bool
) -> None:
    read = line_reader(_form(options), is_json=options.format == "json")
    shows = options.progress or bool(options.file)
    with Progress(f"to {options.topic}", source.total_bytes, amount=bytes_text) as progress:
        for line in source.lines():
            if options.format == "json" and not line:
                continue
            deliveries.check()
            try:
                value, key, headers, partition, timestamp_ms = read(line)
                future = producer.send(
                    options.topic, value, key, partition=partition, timestamp_ms=timestamp_ms, headers=headers or None,
                    on_delivery=deliveries.done,
                )  # fmt: skip
            except LineError as error:
                raise CommandError(f"{source.place}: {error}") from None
            except UnknownTopicOrPartitionError:
                raise CommandError(_unknown_topic(options)) from None
            if is_typed:
                written = future.result(timeout=30)
                _hint(f"  {written.topic}-{written.partition}@{written.offset}")
            elif shows:
                progress.update(source.read_bytes, counted(deliveries.count, "record"))


def _unknown_topic(options: argparse.Namespace) -> str:
    from ottla.client.admin.blocking_admin import Admin
    from ottla.client.config.admin import ADMIN_KEYS

    with Admin(client_settings(options, ADMIN_KEYS)) as admin:
        known = list(admin.list_topics(include_internal=True))
    if options.topic in known:
        return f"{options.topic} has no partition {options.partition}; `ottla topics describe` shows them"
    return f"{no_topic(options.topic, known)} `ottla topics create {options.topic}` makes it"


class _Source:
    """The lines of the standard input, or of files one after the other."""

    def __init__(self, files: list[str]) -> None:
        self._files: Final = files
        self.total_bytes: Final = _size(files)
        self.read_bytes = 0
        self._name = "line"
        self._number = 0

    @property
    def place(self) -> str:
        """The file and number of the last line."""
        return f"{self._name} {self._number}"

    def lines(self) -> Iterator[bytes]:
        """Lines without their ends."""
        if not self._files:
            yield from self._lines_of(sys.stdin.buffer)
        for path in self._files:
            self._name = f"{path}, line"
            with _opened(path) as file:
                yield from self._lines_of(file)

    def _lines_of(self, file: BinaryIO) -> Iterator[bytes]:
        for self._number, line in enumerate(file, 1):
            self.read_bytes += len(line)
            yield line.removesuffix(b"\n").removesuffix(b"\r")


def _opened(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}; give files that can be read") from None


def _size(files: list[str]) -> int | None:
    try:
        return sum(os.stat(path).st_size for path in files) or None
    except OSError:
        return None


class _Deliveries:
    """The outcomes of records, written by the producer's thread and read by the user's."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._error: BaseException | None = None
        self.count = 0
        self.partitions: dict[int, int] = {}

    def done(self, metadata: RecordMetadata | None, error: BaseException | None) -> None:
        """A record was delivered, or was not."""
        with self._lock:
            if metadata is None:
                self._error = self._error or error
            else:
                self.count += 1
                self.partitions[metadata.partition] = self.partitions.get(metadata.partition, 0) + 1

    def check(self) -> None:
        """Raises the first failure."""
        if self._error is not None:
            raise self._error


def _tell(options: argparse.Namespace, deliveries: _Deliveries) -> None:
    partitions = dict(sorted(deliveries.partitions.items()))
    if options.json:
        print_document({"topic": options.topic, "records": deliveries.count, "partitions": partitions})
    elif sys.stderr.isatty():
        spread = f" to {counted(len(partitions), 'partition')}" if partitions else ""
        _hint(f"{counted(deliveries.count, 'record')}{spread} of {options.topic}.")


def _hint(text: str) -> None:
    print(Style.of(sys.stderr).paint(text, Tone.FAINT), file=sys.stderr)
