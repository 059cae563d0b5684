"""Measures how unevenly a topic's partitions are filled and written, from two looks at them. Pure.

The rate in bytes is that of records times the size of one on disk: a size alone shrinks when retention removes a
segment between the looks.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Look(NamedTuple):
    """A partition at one moment; None where its leader could not be asked."""

    start: int | None
    end: int | None
    size_bytes: int | None


class Heat(NamedTuple):
    """A partition with its rates."""

    partition: int
    size_bytes: int | None
    records: int | None
    bytes_per_second: float | None
    records_per_second: float | None


def heats(before: Mapping[int, Look], after: Mapping[int, Look], seconds: float) -> list[Heat]:
    """All partitions, the hottest first: by bytes written, then by bytes held, then by number."""
    found = [_heat(number, before.get(number, _UNKNOWN), look, seconds) for number, look in after.items()]
    return sorted(found, key=_hottest)


_UNKNOWN = Look(None, None, None)


def _heat(number: int, before: Look, after: Look, seconds: float) -> Heat:
    if after.start is None or after.end is None:
        return Heat(number, after.size_bytes, None, None, None)
    records = after.end - after.start
    if before.end is None:
        return Heat(number, after.size_bytes, records, None, None)
    written = max(0, after.end - before.end)
    per_second = written / seconds
    return Heat(number, after.size_bytes, records, _bytes(before, after, written, seconds), per_second)


def _bytes(before: Look, after: Look, written: int, seconds: float) -> float | None:
    if not written:
        return 0.0
    if after.size_bytes is None:
        return None
    grown = after.size_bytes - (before.size_bytes or 0)
    if before.size_bytes is not None and before.start == after.start and grown > 0:
        return grown / seconds
    assert after.end is not None
    held = after.end - (after.start or 0)
    return written * after.size_bytes / held / seconds if held else 0.0


def _hottest(heat: Heat) -> tuple[float, int, int]:
    return (-(heat.bytes_per_second or 0.0), -(heat.size_bytes or 0), heat.partition)


def skew(values: Iterable[float | None]) -> float | None:
    """The ratio of the largest to the mean; None without any.

    >>> skew([10, 10, 40]), skew([5, 5]), skew([0, 0])
    (2.0, 1.0, None)
    """
    known: Sequence[float] = [value for value in values if value is not None]
    total = sum(known)
    return max(known) * len(known) / total if total else None
