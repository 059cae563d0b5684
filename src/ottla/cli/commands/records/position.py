"""Points in partitions as people name them: `beginning`, `end`, an offset, the last N records, a time.

Owns the grammar, and what a point means in a given partition. Invariant: a resolved offset lies within the partition;
a point outside of it is moved to the nearer end: [100, 250) with 7 → 100, with 900 → 250, with the last 500 → 100.
"""

import re
import time
from collections.abc import Collection
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.cli.output.advice import CommandError

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.record import TopicPartition

POINT_HELP: Final = "beginning, end, an OFFSET, or a time: 2026-01-31T08:00, 15m (ago; s, m, h, d), @MILLISECONDS"
_AGO: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class PointKind(Enum):
    """The meaning of the number of a point."""

    BEGINNING = "beginning"
    END = "end"
    OFFSET = "offset"
    LAST = "last"
    TIME = "time"


class Point(NamedTuple):
    """A point in every partition."""

    kind: PointKind
    number: int = 0


def parse_point(text: str, now_ms: int | None = None) -> Point:
    """What a text means; times without a zone are local.

    >>> parse_point("end"), parse_point("42"), parse_point("-10")
    (Point(kind=<PointKind.END: 'end'>, number=0), Point(kind=<PointKind.OFFSET: 'offset'>, number=42), \
Point(kind=<PointKind.LAST: 'last'>, number=10))
    >>> parse_point("1970-01-01T00:00:01Z").number, parse_point("5m", now_ms=400_000).number
    (1000, 100000)
    """
    if text in ("beginning", "earliest", "start"):
        return Point(PointKind.BEGINNING)
    if text in ("end", "latest", "now"):
        return Point(PointKind.END)
    if text.isdecimal():
        return Point(PointKind.OFFSET, int(text))
    if text.startswith("-") and text[1:].isdecimal():
        return Point(PointKind.LAST, int(text[1:]))
    return Point(PointKind.TIME, _moment_ms(text, round(time.time() * 1000) if now_ms is None else now_ms))


def _moment_ms(text: str, now_ms: int) -> int:
    if text.startswith("@") and text[1:].isdecimal():
        return int(text[1:])
    ago = _AGO.fullmatch(text.removesuffix(" ago"))
    if ago is not None:
        return max(0, round(now_ms - float(ago[1]) * _UNITS_MS[ago[2]]))
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise CommandError(f"{text} is no point in a log: give {POINT_HELP}") from None


async def resolve(
    admin: "AsyncAdmin", partitions: Collection["TopicPartition"], point: Point
) -> dict["TopicPartition", int]:
    """The offset that the point means in each partition."""
    from ottla.client.admin.value.offset import OffsetSpec

    if point.kind is PointKind.BEGINNING:
        return await offsets_at(admin, partitions, OffsetSpec.EARLIEST)
    ends = await offsets_at(admin, partitions, OffsetSpec.LATEST)
    if point.kind is PointKind.END:
        return ends
    if point.kind is PointKind.TIME:
        found = await offsets_at(admin, partitions, point.number)
        return {partition: ends[partition] if offset < 0 else offset for partition, offset in found.items()}
    starts = await offsets_at(admin, partitions, OffsetSpec.EARLIEST)
    return {partition: min(max(_asked(point, end), starts[partition]), end) for partition, end in ends.items()}


def _asked(point: Point, end: int) -> int:
    return end - point.number if point.kind is PointKind.LAST else point.number


async def offsets_at(
    admin: "AsyncAdmin", partitions: Collection["TopicPartition"], spec: int
) -> dict["TopicPartition", int]:
    """One kind of offset of each partition."""
    found = await admin.list_offsets(dict.fromkeys(partitions, spec))
    return {partition: found[partition].offset for partition in partitions}
