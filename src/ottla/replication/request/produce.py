"""The values of an append over several partitions: what is asked for, and what came of it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ottla.protocol.records.validation import RecordError
from ottla.storage.log.append_info import FROM_CLIENT, AppendOptions


class AppendEntry(NamedTuple):
    """Records for one partition; they are changed in place."""

    topic: str
    partition: int
    records: bytearray | memoryview
    options: AppendOptions = FROM_CLIENT


class AppendResult(NamedTuple):
    """A Produce answer's data of one partition; -1 wherever Kafka has it."""

    topic: str
    partition: int
    error_code: int = 0
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    error_message: str | None = None
    record_errors: Sequence[RecordError] = ()
    last_offset: int = -1
    size_bytes: int = 0
    """Bytes written; 0 for a repeated batch and on errors."""


AppendDone: TypeAlias = Callable[[Sequence[AppendResult]], None]
"""Called once, on the loop's thread, with a result for each partition in the order of the entries."""
