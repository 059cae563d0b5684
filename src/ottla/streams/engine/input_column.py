"""Records of one partition, decoded, column by column: what a task takes faster than one record after the other.

A host that has whole columns decodes them at once. Record number n is made only where somebody looks at it: a handler,
an error, a processor that asks where a record came from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.record import Headers, RecordMetadata


@dataclass(frozen=True, slots=True)
class InputColumns:
    """Some records in the order of their offsets; all timestamps are valid."""

    topic: str
    partition: int
    offsets: Sequence[int]
    timestamps: Sequence[int]
    keys: Sequence[Any]
    values: Sequence[Any]
    headers: Sequence[Headers] | None
    """None: no record has any."""
    record_at: Callable[[int], InputRecord]
    """The record with this number as it came from its topic."""

    def metadata_at(self, number: int) -> RecordMetadata:
        """Where a record came from."""
        return RecordMetadata(self.topic, self.partition, self.offsets[number])
