"""Which neighbouring segments are rewritten into one, so that cleaning does not leave ever smaller ones."""

from collections.abc import Sequence
from typing import NamedTuple

from ottla.storage.index.offset_index import RELATIVE_OFFSET_MAX


class SegmentSize(NamedTuple):
    """A segment as far as grouping cares: where it begins and ends, and the bytes of its files before cleaning."""

    base_offset: int
    end_offset: int
    """Where the next one begins; offsets in between may be unused."""
    log_bytes: int
    index_bytes: int
    """The larger of its two indexes."""


def group_by_size(segments: Sequence[SegmentSize], log_bytes_max: int, index_bytes_max: int) -> list[list[SegmentSize]]:
    """Runs of segments that fit into one, counted before cleaning, with offsets that one index can hold.

    >>> sizes = [SegmentSize(base, base + 10, 40, 8) for base in (0, 10, 20, 30)]
    >>> [[segment.base_offset for segment in group] for group in group_by_size(sizes, 100, 1000)]
    [[0, 10], [20, 30]]
    """
    groups: list[list[SegmentSize]] = []
    log_bytes = index_bytes = 0
    for segment in segments:
        log_bytes += segment.log_bytes
        index_bytes += segment.index_bytes
        # An empty segment holds no offset that an index would have to reach; it would be left behind every 2^31.
        reaches = not segment.log_bytes or (
            bool(groups) and segment.end_offset - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX
        )
        if groups and log_bytes <= log_bytes_max and index_bytes <= index_bytes_max and reaches:
            groups[-1].append(segment)
        else:
            groups.append([segment])
            log_bytes, index_bytes = segment.log_bytes, segment.index_bytes
    return groups
