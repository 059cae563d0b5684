"""The transactions of a partition that hold back readers of committed data.

A transaction is open from its first record to its marker, and unreplicated from there until the high watermark has
passed the marker. The first offset of either kind is the first unstable offset: read_committed goes no further.

One thread changes them. Any may read `first_unstable_offset`, which is kept for that: the maps change meanwhile.
"""

from typing import NamedTuple


class CompletedTransaction(NamedTuple):
    """A transaction that a marker ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    """The marker's offset."""
    is_aborted: bool


class OpenTransactions:
    """Transactions by first offset, which is the order they began in."""

    __slots__ = ("_open", "first_unstable_offset", "unreplicated")

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        """First offset to producer id."""
        self.unreplicated: dict[int, int] = {}
        """First offset to the marker's offset."""
        self.first_unstable_offset: int | None = None
        """Where the oldest transaction begins that is open or not replicated."""

    def __len__(self) -> int:
        return len(self._open)

    def start(self, producer_id: int, first_offset: int) -> None:
        """A transaction began; first offsets only rise."""
        self._open[first_offset] = producer_id
        if self.first_unstable_offset is None:
            self.first_unstable_offset = first_offset

    def complete(self, completed: CompletedTransaction) -> None:
        """A transaction's marker was written."""
        del self._open[completed.first_offset]
        self.unreplicated[completed.first_offset] = completed.last_offset

    def replicated(self, high_watermark: int) -> None:
        """Every marker below the high watermark is safe."""
        if self.unreplicated:
            self.unreplicated = {first: last for first, last in self.unreplicated.items() if last >= high_watermark}
            self.first_unstable_offset = self._first_unstable()

    def clear(self) -> None:
        """Forgets everything."""
        self._open = {}
        self.unreplicated = {}
        self.first_unstable_offset = None

    @property
    def first_undecided(self) -> tuple[int, int] | None:
        """First offset and producer id of the oldest open transaction."""
        return next(iter(self._open.items()), None)

    def _first_unstable(self) -> int | None:
        if not self.unreplicated:
            return next(iter(self._open), None)
        # Transactions complete in another order than they began in.
        oldest = min(self.unreplicated)
        return min(oldest, next(iter(self._open), oldest))

    def stable_offset_after(self, completed: CompletedTransaction) -> int:
        """The last stable offset once the transaction's marker is replicated."""
        for first_offset, producer_id in self._open.items():
            if producer_id != completed.producer_id:
                return first_offset
        return completed.last_offset + 1
