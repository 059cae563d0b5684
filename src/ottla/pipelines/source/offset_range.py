"""Ranges of offsets and how they are cut: into tasks, and into what a micro-batch takes in.

Pure: nothing here asks a broker or the clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ottla.client.consumer.range.offset_range import OffsetRange
from ottla.client.record import TopicPartition
from ottla.pipelines.option.parse import Admission, Splitting

__all__ = ["OffsetRange", "TriggerHold", "admit", "split"]


def split(ranges: Iterable[OffsetRange], splitting: Splitting) -> list[OffsetRange]:
    """The ranges that are not empty, cut so that none is too large and there are enough of them.

    `maxRecordsPerPartition` 40 cuts [0,100) into [0,33)[33,66)[66,100); `minPartitions` 3 cuts [0,90) and [0,10) into
    [0,45)[45,90)[0,10).
    """
    whole = [each for each in ranges if each.size > 0]
    if splitting.max_records is not None:
        whole = [part for each in whole for part in _cut(each, -(-each.size // splitting.max_records))]
    if splitting.min_partitions is None or splitting.min_partitions <= len(whole) or not whole:
        return whole
    return [part for each, count in zip(whole, _counts(whole, splitting.min_partitions), strict=True)
            for part in _cut(each, count)]  # fmt: skip


def _counts(ranges: list[OffsetRange], wanted: int) -> list[int]:
    """Into how many parts each range is cut: one more goes to where the parts are largest, until there are enough."""
    total = sum(each.size for each in ranges)
    counts = [max(1, min(each.size, each.size * wanted // total)) for each in ranges]
    while sum(counts) < wanted:
        largest = max(range(len(ranges)), key=lambda at: ranges[at].size / counts[at])
        if ranges[largest].size <= counts[largest]:
            # Every task has a single offset.
            break
        counts[largest] += 1
    return counts


def _cut(whole: OffsetRange, count: int) -> list[OffsetRange]:
    edges = [whole.start + whole.size * at // count for at in range(count + 1)]
    return [replace(whole, start=edges[at], end=edges[at + 1]) for at in range(count)]


def admit(
    start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int], offsets_max: int
) -> dict[TopicPartition, int]:
    """The end of a micro-batch of `offsets_max` offsets, or of one of each partition if those are more.

    Half of them are shared alike by all partitions in which something waits, so that one with little in it, such as a
    repartition topic's, is not held up by others with a large backlog. The rest is shared by what waits. 10 and 990
    waiting, at most 100: all 10 of the first, since 25 are its part of the half, and 90 of the second.
    """
    sizes = {part: end - start[part] for part, end in latest.items() if part in start and end > start[part]}
    if sum(sizes.values()) <= offsets_max:
        return dict(latest)
    least = max(1, offsets_max // (2 * len(sizes)))
    taken = {part: min(size, least) for part, size in sizes.items()}
    waiting = sum(sizes.values()) - sum(taken.values())
    rest = max(0, offsets_max - sum(taken.values()))
    left = rest
    for part, size in sizes.items():
        # Nothing waits any more only if each partition has had its least, and then there is no rest to share.
        share = rest * (size - taken[part]) // max(1, waiting)
        taken[part] += share
        left -= share
    for part in sorted(sizes, key=lambda part: taken[part] - sizes[part])[:left]:
        # What rounding down left: one offset each, where the most waits.
        taken[part] += 1
    return {part: start[part] + taken[part] if part in taken else end for part, end in latest.items()}


@dataclass(slots=True)
class TriggerHold:
    """Holds micro-batches back until enough waits (`minOffsetsPerTrigger`), or `maxTriggerDelay` has passed."""

    admission: Admission
    last_batch_ms: float = float("-inf")

    def holds_back(self, waiting: int, now_ms: float) -> bool:
        """Whether a batch of so many offsets is too small yet; if not, it counts as begun now."""
        least = self.admission.min_offsets
        if least is None:
            return False
        is_due = now_ms - self.last_batch_ms >= self.admission.delay_ms_max
        if waiting < least and not is_due:
            return True
        if waiting:
            self.last_batch_ms = now_ms
        return False
