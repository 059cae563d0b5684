"""Which replica is elected, and what is lost."""

import pytest

from ottla.cli.commands.cluster.elect_choice import Candidate, Loss, best_of, loss_of, order_of


def replica(broker: int, end: int | None, epoch: int | None = 3, *, in_sync: bool = False) -> Candidate:
    return Candidate(broker, in_sync, end, epoch, None)


@pytest.mark.parametrize(
    ("replicas", "best"),
    [
        ([replica(1, 10), replica(2, 12), replica(3, 11)], 2),
        ([replica(1, 10), replica(2, 10)], 1),
        # A later epoch outweighs a longer log: what the others have beyond it was never committed.
        ([replica(1, 20, 3), replica(2, 12, 4)], 2),
        ([replica(1, None, in_sync=True), replica(2, 0)], 2),
        # An empty log has no epoch.
        ([replica(1, 0, None), replica(2, 1, 0)], 2),
    ],
)
def test_the_one_that_knows_most_is_best(replicas: list[Candidate], best: int) -> None:
    found = best_of(replicas)
    assert found is not None
    assert found.broker == best


def test_without_a_live_replica_none_is_best() -> None:
    assert best_of([replica(1, None)]) is None


def test_what_each_choice_loses() -> None:
    replicas = [replica(1, 10), replica(2, 12), replica(3, None, in_sync=True)]
    assert loss_of(replicas[0], replicas) == Loss(2, is_certain=True)
    assert loss_of(replicas[1], replicas) == Loss(0, is_certain=True)
    parted = [replica(1, 20, 3), replica(2, 12, 4)]
    assert loss_of(parted[1], parted) == Loss(8, is_certain=False)


def test_the_chosen_one_comes_first() -> None:
    assert order_of(replica(2, 1), [1, 2, 3]) == [2, 1, 3]
