"""The segments of a log in the order of their base offsets; the last is the active one.

Changes replace the whole table, so a reader on another thread sees the table of before or after, never in between.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ottla.storage.segment.segment import Segment


class Segments:
    """An ordered collection of segments, never empty once a log is open."""

    __slots__ = ("_table",)

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._table: tuple[tuple[int, ...], tuple[Segment, ...]] = ((), ())
        self._take(segments)

    def _take(self, segments: Iterable[Segment]) -> None:
        ordered = tuple(sorted(segments, key=lambda segment: segment.base_offset))
        self._table = tuple(segment.base_offset for segment in ordered), ordered

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._table[1])

    def __len__(self) -> int:
        return len(self._table[1])

    def all(self) -> tuple[Segment, ...]:
        """Every segment, oldest first."""
        return self._table[1]

    @property
    def active(self) -> Segment:
        """The one that is appended to."""
        return self._table[1][-1]

    @property
    def first(self) -> Segment:
        """The oldest."""
        return self._table[1][0]

    def from_offset(self, offset: int) -> Sequence[Segment]:
        """The segment that would hold the offset, and all after it; all of them if it lies before the first."""
        bases, segments = self._table
        return segments[max(bisect_right(bases, offset) - 1, 0) :]

    def after(self, segment: Segment) -> Segment | None:
        """The segment that follows one."""
        bases, segments = self._table
        slot = bisect_right(bases, segment.base_offset)
        return segments[slot] if slot < len(segments) else None

    def add(self, segment: Segment) -> None:
        """Adds a segment, in the place of one of the same base offset."""
        self._take([*(kept for kept in self if kept.base_offset != segment.base_offset), segment])

    def remove(self, segments: Iterable[Segment]) -> None:
        """Takes segments out."""
        gone = set(map(id, segments))
        self._take(kept for kept in self if id(kept) not in gone)

    def replace(self, old: Iterable[Segment], new: Iterable[Segment]) -> None:
        """Takes some out and puts others in, at once."""
        gone = set(map(id, old))
        self._take([*(kept for kept in self if id(kept) not in gone), *new])
