"""Broken quorums must be caught, each by the invariant that is there for it."""

import pytest

from ottla.testing.simulation.canary import CANARIES, Canary
from ottla.testing.simulation.raft.quorum_cluster import QuorumCluster
from ottla.testing.simulation.raft.raft_invariant import QuorumInvariants
from ottla.testing.simulation.runner import SimulationFailure, run
from ottla.testing.simulation.scenario import Scenario

SEEDS = 40


def caught_by(canary: Canary) -> set[str]:
    """The invariants that notice, up to and with the one that must."""
    caught: set[str] = set()
    with canary.sabotage():
        for seed in range(SEEDS):
            try:
                run(canary.scenario(seed))
            except SimulationFailure as failure:
                caught.add(failure.invariant)
            if canary.invariant in caught:
                break
    return caught


@pytest.mark.parametrize("name", CANARIES)
def test_it_is_caught(name: str) -> None:
    canary = CANARIES[name]
    assert canary.invariant in caught_by(canary), canary.what


def test_every_invariant_has_a_canary() -> None:
    [quorum] = QuorumCluster(Scenario(seed=0)).invariants
    assert isinstance(quorum, QuorumInvariants)
    assert {invariant.name for invariant in quorum.invariants} == {canary.invariant for canary in CANARIES.values()}


def test_a_canary_leaves_nothing_behind() -> None:
    for canary in CANARIES.values():
        with canary.sabotage():
            pass
    assert run(Scenario(seed=1, voters=3, chaos_ms=3000)).committed > 0
