"""The time of a record, by Kafka's rules or by one of the user's."""

import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from ottla.streams.errors import ProcessingError, StreamsError
from ottla.streams.record import Headers

_log: Final = logging.getLogger(__name__)


class ConsumedRecord(NamedTuple):
    """A record as a timestamp extractor sees it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: Headers

    @property
    def place(self) -> str:
        """Topic, partition and offset, for messages."""
        return f"{self.topic}-{self.partition} at offset {self.offset}"


TimestampExtractor: TypeAlias = Callable[[ConsumedRecord, int], int]
"""`(record, partition time)` to milliseconds; a negative result drops the record."""


def fail_on_invalid_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The record's own time; a negative one stops the task."""
    if record.timestamp < 0:
        raise ProcessingError(
            f"Input record of {record.place} has invalid (negative) timestamp {record.timestamp}. Use a different "
            f"timestamp extractor to process this data: log_and_skip_on_invalid_timestamp goes on without it"
        )
    return record.timestamp


def log_and_skip_on_invalid_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The record's own time; a record with a negative one is dropped, counted and logged."""
    if record.timestamp < 0:
        _log.warning(
            "Input record of %s will be dropped because it has an invalid (negative) timestamp %d",
            record.place,
            record.timestamp,
        )
    return record.timestamp


def use_partition_time_on_invalid_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The record's own time; where it is negative, the partition's time so far, which a first record does not have."""
    if record.timestamp >= 0:
        return record.timestamp
    if partition_time < 0:
        raise ProcessingError(
            f"Could not infer new timestamp for input record of {record.place} because partition time is unknown."
        )
    return partition_time


def wallclock_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The time at which the record is processed. Tasks know this function, and ask their host's clock instead."""
    raise StreamsError("wallclock_timestamp cannot be called: name it in Consumed or default.timestamp.extractor")
