"""The result of a read of a log."""

from typing import NamedTuple

from ottla.storage.segment.slice import FileSlice


class FetchData(NamedTuple):
    """Batches from the log, as a slice of a file.

    The first batch is the one that holds the offset asked for, so it may begin before it; the last may be cut.
    """

    records: FileSlice | None
    """None if there is nothing to read below the limit."""
    segment_base_offset: int
    """With the slice's position it says how far apart two reads are, without counting."""

    @property
    def size_bytes(self) -> int:
        """The number of bytes to send."""
        return 0 if self.records is None else len(self.records)


class TimestampOffset(NamedTuple):
    """A record found by its timestamp."""

    timestamp: int
    offset: int
    leader_epoch: int | None
