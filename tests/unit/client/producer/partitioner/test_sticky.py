"""Which partition records without a key stick to next."""

from collections import Counter

from ottla.base.ids import ZERO_UUID
from ottla.client.cluster.cluster_view import ClusterView, PartitionView, TopicView
from ottla.client.producer.append import TopicLane
from ottla.client.producer.batch import PartitionQueue
from ottla.client.producer.partitioner.partitioner import RoundRobinPartitioner
from ottla.client.producer.partitioner.sticky import StickyPartitioner, draw, weights_of


def view(*leaders: int) -> ClusterView:
    partitions = {index: PartitionView(index, leader, 0) for index, leader in enumerate(leaders)}
    return ClusterView(topics={"t": TopicView("t", ZERO_UUID, partitions)})


def chosen(sticky: StickyPartitioner, count: int = 3) -> Counter[int]:
    lane = TopicLane("t", count)
    return Counter(sticky(lane) for _ in range(600))


def queues(*sizes: int) -> list[PartitionQueue]:
    made = [PartitionQueue(TopicLane("t", len(sizes)), index) for index in range(len(sizes))]
    for queue, size in zip(made, sizes, strict=True):
        queue.batches.extend([None] * size)  # type: ignore[list-item]
    return made


def test_lots_fall_by_weight() -> None:
    assert Counter(draw([4, 5, 6], [1, 2, 3], lot) for lot in range(600)) == {4: 100, 5: 200, 6: 300}
    assert weights_of([2, 2]) == [1, 1]


def test_partitions_without_a_leader_are_left_out() -> None:
    sticky = StickyPartitioner(lambda: view(1, -1, 2), lambda _: queues(0, 0, 0), lambda _: True, is_adaptive=True)
    assert set(chosen(sticky)) == {0, 2}
    nobody = StickyPartitioner(lambda: view(-1, -1, -1), lambda _: (), lambda _: True, is_adaptive=True)
    assert set(chosen(nobody)) == {0, 1, 2}


def test_shorter_queues_get_more() -> None:
    sticky = StickyPartitioner(lambda: view(1, 2, 3), lambda _: queues(0, 99, 99), lambda _: True, is_adaptive=True)
    assert chosen(sticky)[0] > 500
    even = StickyPartitioner(lambda: view(1, 2, 3), lambda _: queues(0, 99, 99), lambda _: True, is_adaptive=False)
    assert max(chosen(even).values()) < 400


def test_brokers_that_take_nothing_are_left_out() -> None:
    sticky = StickyPartitioner(
        lambda: view(1, 2, 3), lambda _: queues(0, 0, 0), lambda node: node != 2, is_adaptive=True
    )
    assert set(chosen(sticky)) == {0, 2}


def test_round_robin_takes_turns() -> None:
    partitioner = RoundRobinPartitioner()
    found = [partitioner.partition("t", None, None, None, None, view(1, -1, 2)) for _ in range(4)]
    assert found == [0, 2, 0, 2]
