"""Chooses partitions for records without a key: one until it got a batch's worth, then another (KIP-794).

The next one is random, uniformly or weighted so that partitions with shorter queues get more: a slow broker gets what
it can take, and the others the rest.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from ottla.base.dice import DICE
from ottla.client.cluster.cluster_view import ClusterView
from ottla.client.producer.append import TopicLane
from ottla.client.producer.batch import PartitionQueue


def weights_of(queue_sizes: Sequence[int]) -> list[int]:
    """The shorter a queue, the heavier; equal ones weigh the same.

    >>> weights_of([0, 3, 1])
    [4, 1, 3]
    """
    longest = max(queue_sizes) + 1
    return [longest - size for size in queue_sizes]


def draw(candidates: Sequence[int], weights: Sequence[int], lot: int) -> int:
    """The candidate that a non-negative number falls to.

    >>> [draw([0, 2], [1, 3], lot) for lot in range(5)]
    [0, 2, 2, 2, 0]
    """
    sums = list(accumulate(weights))
    return candidates[bisect_right(sums, lot % sums[-1])]


class StickyPartitioner:
    """Chooses the next partition of a topic, from any thread."""

    def __init__(
        self,
        view: Callable[[], ClusterView],
        queues: Callable[[str], Sequence[PartitionQueue]],
        is_available: Callable[[int], bool],
        *,
        is_adaptive: bool,
    ) -> None:
        self._view: Final = view
        self._queues: Final = queues
        self._is_available: Final = is_available
        self._is_adaptive: Final = is_adaptive

    def __call__(self, lane: TopicLane) -> int:
        """The partition for the next records without a key."""
        topic = self._view().topics.get(lane.topic)
        partitions = {} if topic is None else topic.partitions
        led = [index for index, view in partitions.items() if view.leader >= 0 and index < lane.partition_count]
        able = [index for index in led if self._is_available(partitions[index].leader)] if self._is_adaptive else led
        candidates = able or led or range(lane.partition_count)
        queues = self._queues(lane.topic)
        weights = [1] * len(candidates)
        if self._is_adaptive and able and len(queues) >= lane.partition_count:
            weights = weights_of([len(queues[index].batches) for index in candidates])
        return draw(candidates, weights, DICE.getrandbits(31))
