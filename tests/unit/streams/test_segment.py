"""What a fetch of one key reads of a store that ages."""

from collections.abc import Iterator
from typing import Final

from ottla.streams.engine.store.segment import SegmentedMap
from ottla.streams.engine.store.state_map import MemoryMap

NOW_MS: Final = 1_700_000_000_000


class Counting(MemoryMap):
    """Counts the pairs that scans give."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    def scan(self, low: bytes, high: bytes | None) -> Iterator[tuple[bytes, bytes]]:
        for pair in super().scan(low, high):
            self.read += 1
            yield pair


def test_a_fetch_reads_nothing_of_keys_that_begin_alike() -> None:
    """`customer 1` is not the time of `customer 10` and its like, whatever the fetch asks for."""
    state = Counting()
    entries = SegmentedMap(state, 3_600_000, 8, by_time=False)
    for number in range(1_000):
        entries.put(b"customer %d" % number, NOW_MS + number, bytes(8), b"value")
    state.read = 0
    for time_to in ((1 << 63) - 1, NOW_MS + 500, NOW_MS + 5_000):
        assert [entry.time for entry in entries.fetch(b"customer 1", 0, time_to)] == [NOW_MS + 1]
    assert state.read == 3
