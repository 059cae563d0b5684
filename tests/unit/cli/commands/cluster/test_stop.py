"""What becomes of partitions and quorum when brokers stop."""

import pytest

from ottla.cli.commands.cluster.stop import Consequence, Holding, Quorum, consequence
from ottla.client.record import TopicPartition

PART = TopicPartition("orders", 0)
QUORUM = Quorum(frozenset({1, 2, 3}), frozenset({1, 2, 3}))


def held(isr: tuple[int, ...], leader: int | None = 1, *, min_isr: int = 2, replicas: int = 3) -> Holding:
    return Holding(PART, leader, tuple(range(1, replicas + 1)), isr, min_isr)


@pytest.mark.parametrize(
    ("stopped", "holding", "offline", "refused", "moved", "lagging"),
    [
        ([1], held((1, 2, 3)), False, False, 1, 1),
        ([2], held((1, 2, 3)), False, False, 0, 1),
        ([1, 2], held((1, 2, 3)), False, True, 1, 0),
        ([1, 2, 3], held((1, 2, 3)), True, False, 0, 0),
        ([2], held((1, 2)), False, True, 0, 0),
        # It is behind already: nothing changes.
        ([3], held((1, 2)), False, False, 0, 0),
        ([1], held((1,)), True, False, 0, 0),
        ([4], held((1, 2, 3)), False, False, 0, 0),
        # One replica can't have two in sync: Kafka asks for one.
        ([2], held((1, 2), min_isr=3, replicas=2), False, True, 0, 0),
        ([1], held((1, 2), min_isr=1, replicas=2), False, False, 1, 1),
        # It has no leader: it can't get worse.
        ([1], held((1,), leader=None), False, False, 0, 0),
    ],
)
def test_what_becomes_of_a_partition(
    stopped: list[int], holding: Holding, offline: bool, refused: bool, moved: int, lagging: int
) -> None:
    found = consequence(stopped, [holding], None)
    assert found == Consequence([PART] if offline else [], [PART] if refused else [], moved, lagging, None)
    assert found.is_harmless is not (offline or refused)


@pytest.mark.parametrize(
    ("stopped", "quorum", "left"),
    [
        ([1], QUORUM, None),
        ([1, 2], QUORUM, 1),
        ([1], QUORUM._replace(live=frozenset({1, 2})), 1),
        # One that is away already takes nothing with it.
        ([3], QUORUM._replace(live=frozenset({1, 2})), None),
        ([7], QUORUM._replace(live=frozenset({1})), None),
        ([1], Quorum(frozenset({1}), frozenset({1})), 0),
        ([1], None, None),
    ],
)
def test_whether_the_quorum_keeps_its_majority(stopped: list[int], quorum: Quorum | None, left: int | None) -> None:
    assert consequence(stopped, [], quorum).quorum_left == left
