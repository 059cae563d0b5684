"""Handles records that cannot be decoded, processed or written: the task stops, or continues without them.

A handler is a function `(context, error)` that answers with `resume` or `fail`, each with records for other
topics. With `errors.dead.letter.queue.topic.name` the two built-in ones send the source record there, with Kafka
Streams' headers.
"""

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from ottla.client.record import Header
from ottla.streams.record import Headers

DEAD_LETTER_TOPIC: Final = "errors.dead.letter.queue.topic.name"
_PREFIX: Final = "__streams.errors."
_log: Final = logging.getLogger(__name__)


class InputRecord(NamedTuple):
    """A record as it came from its topic."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class OutputRecord(NamedTuple):
    """A record on its way to a topic; without a partition its key decides."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Headers = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """The place of an error: the source record (None in a punctuation), the node and the task."""

    source: InputRecord | None
    node: str
    task_id: str
    dead_letter_topic: str | None
    timestamp: int = 0
    """The time of the record as it came to the node, or of the punctuation."""


class ErrorResponse(NamedTuple):
    """A handler's decision, and the dead letters to write."""

    resumes: bool
    dead_letters: tuple[OutputRecord, ...] = ()

    @classmethod
    def resume(cls, *dead_letters: OutputRecord) -> "ErrorResponse":
        """Continues the task without the record."""
        return cls(True, dead_letters)

    @classmethod
    def fail(cls, *dead_letters: OutputRecord) -> "ErrorResponse":
        """Stops the task."""
        return cls(False, dead_letters)


ErrorHandler: TypeAlias = Callable[[ErrorContext, Exception], ErrorResponse]


def log_and_fail(context: ErrorContext, error: Exception) -> ErrorResponse:
    """The task stops."""
    return ErrorResponse.fail(*_dead_letters(context, error))


def log_and_continue(context: ErrorContext, error: Exception) -> ErrorResponse:
    """The task goes on without the record, which is counted as dropped, and logged with the error."""
    _log.warning("%s goes on without %s in task %s", context.node, _place(context), context.task_id, exc_info=error)
    return ErrorResponse.resume(*_dead_letters(context, error))


def _place(context: ErrorContext) -> str:
    source = context.source
    if source is None:
        return "its punctuation"
    return f"the record of {source.topic}-{source.partition} at offset {source.offset}"


def _dead_letters(context: ErrorContext, error: Exception) -> list[OutputRecord]:
    if context.dead_letter_topic is None:
        return []
    source = context.source
    found: list[Header] = list(source.headers) if source is not None else []
    said = {
        "exception": f"{type(error).__module__}.{type(error).__qualname__}",
        "message": str(error),
        "stacktrace": "".join(traceback.format_exception(error)),
        "topic": None if source is None else source.topic,
        "partition": "-1" if source is None else str(source.partition),
        "offset": "-1" if source is None else str(source.offset),
    }
    found += [(_PREFIX + name, None if text is None else text.encode()) for name, text in said.items()]
    key, value = (None, None) if source is None else (source.key, source.value)
    return [OutputRecord(context.dead_letter_topic, key, value, max(context.timestamp, 0), found)]
