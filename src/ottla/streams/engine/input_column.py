"""Decoded records of one partition as columns, which a task takes faster than single records.

A host that has whole columns decodes them at once. The object of record number n is made only if something needs it: a
handler, an error, a processor that asks for the record's origin.
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
        """Topic, partition and offset of a record."""
        return RecordMetadata(self.topic, self.partition, self.offsets[number])
