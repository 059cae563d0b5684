"""Dead letters: records that could not be converted, with headers that say why.

A sink's dead letter is the record as it was read. A source's has no bytes yet: what converts is kept, and the rest is
JSON of the value, so that nothing is lost.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.connect.errors import java_name, trace
from ottla.connect.pipeline.tolerance import ErrorOption, Failure

PREFIX: Final = "__connect.errors."
Headers = tuple[tuple[str, bytes | None], ...]


class ConsumerRecord(NamedTuple):
    """A record as it was read from a topic; a tuple, since one is made for every record."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class ProducerRecord(NamedTuple):
    """A record as it is written to a topic; without partition and timestamp the producer finds them."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: int | None = None


@frozen
class DeadLetter:
    """A record for the dead letter topic, and what went wrong."""

    record: ProducerRecord
    failure: Failure


@frozen
class TaskName:
    """Which task it was."""

    connector: str
    task: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.task}"


def dead_letter(record: ProducerRecord, failure: Failure, task: TaskName, option: ErrorOption) -> DeadLetter:
    """The record with its context, where that is wanted."""
    context = _context(failure, task) if option.context_headers else ()
    return DeadLetter(_with_headers(record, context), failure)


def consumed_dead_letter(record: ConsumerRecord, failure: Failure, task: TaskName, option: ErrorOption) -> DeadLetter:
    """The record that was read, with where it was."""
    place: Mapping[str, object] = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
    headers: Headers = tuple((f"{PREFIX}{name}", str(value).encode()) for name, value in place.items())
    context = (*headers, *_context(failure, task)) if option.context_headers else ()
    made = ProducerRecord(option.dead_letter_topic, None, record.key, record.value, record.headers, record.timestamp)
    return DeadLetter(_with_headers(made, context), failure)


def _context(failure: Failure, task: TaskName) -> Headers:
    values = {
        "connector.name": task.connector,
        "task.id": str(task.task),
        "stage": failure.stage.name,
        "class.name": failure.class_name,
        "exception.class.name": java_name(failure.error),
        # An error without a message has a header without a value, as in Kafka.
        "exception.message": str(failure.error) or None,
        "exception.stacktrace": trace(failure.error),
    }
    return tuple(
        (f"{PREFIX}{name}", None if value is None else value.encode("utf-8", "replace"))
        for name, value in values.items()
    )


def _with_headers(record: ProducerRecord, headers: Headers) -> ProducerRecord:
    return ProducerRecord(
        record.topic, record.partition, record.key, record.value, (*record.headers, *headers), record.timestamp
    )
