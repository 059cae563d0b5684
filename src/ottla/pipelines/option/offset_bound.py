"""Where reading begins or ends, as the options say it: an end of the log, offsets, or times.

Three options can say it for each side. The timestamp wins over the timestamps by partition, and those over offsets,
as with Spark's Kafka connector.
"""

from collections.abc import Mapping
from enum import Enum

from ottla.base.frozen import frozen
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.offset_json import EARLIEST, LATEST, PartitionOffsets, parse_offsets


class NoMatch(Enum):
    """The choices for a partition without a record of a time or later."""

    ERROR = "error"
    LATEST = "latest"


@frozen
class OffsetBound:
    """One of: `everywhere` (EARLIEST or LATEST), `offsets`, `timestamp_ms`, `timestamps_ms`; `option` said so."""

    option: str
    everywhere: int | None = None
    offsets: PartitionOffsets | None = None
    timestamp_ms: int | None = None
    timestamps_ms: PartitionOffsets | None = None
    no_match: NoMatch = NoMatch.LATEST


@frozen
class BoundNames:
    """The three options of one side, and what holds without any."""

    timestamp: str
    timestamps: str
    offsets: str
    default: int


STARTING_BATCH = BoundNames("startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets", EARLIEST)
STARTING_STREAM = BoundNames("startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets", LATEST)
ENDING = BoundNames("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets", LATEST)


def parse_bound(options: Mapping[str, str], names: BoundNames, no_match: NoMatch) -> OffsetBound:
    """The bound that options (names in lower case) ask for."""
    if (text := options.get(names.timestamp.lower())) is not None:
        if not text.strip().isdecimal():
            raise OptionError(names.timestamp, f"expected milliseconds since 1970, not {text!r}")
        return OffsetBound(names.timestamp, timestamp_ms=int(text), no_match=no_match)
    if (text := options.get(names.timestamps.lower())) is not None:
        times = parse_offsets(names.timestamps, text)
        wrong = next((part for part, time_ms in times.items() if time_ms < 0), None)
        if wrong is not None:
            raise OptionError(names.timestamps, f"the time of {wrong} is negative")
        return OffsetBound(names.timestamps, timestamps_ms=times, no_match=no_match)
    text = options.get(names.offsets.lower(), "").strip()
    if not text:
        return OffsetBound(names.offsets, everywhere=names.default)
    if text.lower() in {"earliest", "latest"}:
        return OffsetBound(names.offsets, everywhere=EARLIEST if text.lower() == "earliest" else LATEST)
    if not text.startswith("{"):
        raise OptionError(names.offsets, f"expected 'earliest', 'latest' or offsets as JSON, not {text!r}")
    offsets = parse_offsets(names.offsets, text)
    below = next((part for part, offset in offsets.items() if offset < EARLIEST), None)
    if below is not None:
        raise OptionError(names.offsets, f"the offset {offsets[below]} of {below} is below -2")
    return OffsetBound(names.offsets, offsets=offsets)


def refuse(bound: OffsetBound, limit: int) -> None:
    """Raises `OptionError` if `bound` names an end of the log with which a batch would be empty."""
    word = "latest" if limit == LATEST else "earliest"
    if bound.everywhere == limit:
        raise OptionError(bound.option, f"can't be {word} for a batch read: it would have no records")
    for partition, offset in (bound.offsets or {}).items():
        if offset == limit:
            raise OptionError(bound.option, f"can't be {word} ({limit}) for {partition} in a batch read")


def check_order(start: OffsetBound, end: OffsetBound) -> None:
    """Raises `OptionError` if a range that was given ends before it starts."""
    if start.timestamp_ms is not None and end.timestamp_ms is not None and start.timestamp_ms > end.timestamp_ms:
        raise OptionError(end.option, f"{end.timestamp_ms} is before {start.option} {start.timestamp_ms}")
    for first, last in ((start.offsets, end.offsets), (start.timestamps_ms, end.timestamps_ms)):
        for partition, value in (last or {}).items():
            from_value = (first or {}).get(partition, EARLIEST)
            if 0 <= value < from_value:
                raise OptionError(end.option, f"{value} for {partition} is before {start.option} {from_value}")
