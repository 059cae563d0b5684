"""Where replicas go: over brokers, over racks, never led by a fenced broker."""

from collections import Counter
from random import Random

import pytest

from ottla.metadata.placement import ReplicaPlacer, UsableBroker
from ottla.protocol.errors import InvalidReplicationFactorError

RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}


def placed(brokers: list[UsableBroker], count: int, factor: int, seed: int = 0) -> list[list[int]]:
    placer = ReplicaPlacer(brokers, Random(seed))
    return [placer.place(factor) for _ in range(count)]


def brokers(*ids: int, fenced: tuple[int, ...] = (), racks: dict[int, str] | None = None) -> list[UsableBroker]:
    return [UsableBroker(broker, (racks or {}).get(broker), broker in fenced) for broker in ids]


def test_leaders_spread_evenly() -> None:
    placements = placed(brokers(1, 2, 3, 4), 400, 3)
    assert set(Counter(replicas[0] for replicas in placements).values()) == {100}
    assert all(len(set(replicas)) == 3 for replicas in placements)


def test_leaders_spread_evenly_over_racks_of_one_size() -> None:
    placements = placed(brokers(*RACKS, racks=RACKS), 600, 3)
    assert set(Counter(replicas[0] for replicas in placements).values()) == {100}


def test_each_replica_is_in_a_rack_of_its_own() -> None:
    for replicas in placed(brokers(*RACKS, racks=RACKS), 300, 3):
        assert {RACKS[broker] for broker in replicas} == {"a", "b", "c"}


def test_more_replicas_than_racks_wrap_around() -> None:
    for replicas in placed(brokers(*RACKS, racks=RACKS), 100, 5):
        assert len(set(replicas)) == 5
        assert max(Counter(RACKS[broker] for broker in replicas).values()) == 2


def test_a_fenced_broker_never_leads_but_may_follow() -> None:
    placements = placed(brokers(1, 2, 3, fenced=(3,)), 100, 3)
    assert {replicas[0] for replicas in placements} == {1, 2}
    assert all(3 in replicas for replicas in placements)


def test_a_fenced_broker_is_the_last_choice_of_its_rack() -> None:
    placements = placed(brokers(1, 2, 3, fenced=(3,)), 100, 2)
    assert all(3 not in replicas for replicas in placements)


def test_one_broker() -> None:
    assert placed(brokers(7), 3, 1) == [[7], [7], [7]]


def test_the_same_seed_places_alike() -> None:
    assert placed(brokers(1, 2, 3, 4, 5), 50, 3, seed=9) == placed(brokers(5, 4, 3, 2, 1), 50, 3, seed=9)


def test_followers_of_a_broker_vary() -> None:
    placements = placed(brokers(1, 2, 3, 4, 5), 200, 2)
    assert len({tuple(replicas) for replicas in placements}) == 20


@pytest.mark.parametrize(
    ("usable", "factor", "message"),
    [
        (brokers(1), 0, "Invalid replication factor 0: the replication factor must be positive."),
        (brokers(1, fenced=(1,)), 1, "All brokers are currently fenced, or have all their log directories cordoned."),
        (brokers(), 1, "All brokers are currently fenced, or have all their log directories cordoned."),
        (
            brokers(1, 2),
            3,
            "The target replication factor of 3 cannot be reached because only 2 broker(s) are registered or some "
            "brokers have all their log directories cordoned.",
        ),
    ],
)
def test_refusals(usable: list[UsableBroker], factor: int, message: str) -> None:
    with pytest.raises(InvalidReplicationFactorError) as refused:
        placed(usable, 1, factor)
    assert str(refused.value) == message
