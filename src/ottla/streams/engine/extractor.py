"""The time of a record, by Kafka's rules or by one of the user's."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ottla.streams.errors import StreamsError
from ottla.streams.record import Headers


class ConsumedRecord(NamedTuple):
    """A record as a timestamp extractor sees it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: Headers


TimestampExtractor: TypeAlias = Callable[[ConsumedRecord, int], int]
"""`(record, partition time)` to milliseconds; a negative result drops the record."""


def fail_on_invalid_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The record's own time; a negative one stops the task."""
    if record.timestamp < 0:
        raise StreamsError(
            f"{record.topic}-{record.partition} has a record with the negative timestamp {record.timestamp} at offset "
            f"{record.offset}: choose log_and_skip_on_invalid_timestamp to go on without it"
        )
    return record.timestamp


def log_and_skip_on_invalid_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The record's own time; a record with a negative one is dropped and counted."""
    return record.timestamp


def use_partition_time_on_invalid_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The record's own time; the partition's time so far where it is negative."""
    return partition_time if record.timestamp < 0 else record.timestamp


def wallclock_timestamp(record: ConsumedRecord, partition_time: int) -> int:
    """The time at which the record is processed. Tasks know this function, and ask their host's clock instead."""
    raise StreamsError("wallclock_timestamp cannot be called: name it in Consumed or default.timestamp.extractor")
