"""Broken coordinators must be caught, each by the invariant that is there for it."""

import pytest

from ottla.testing.simulation.coordinator.canary import CANARIES, CoordinatorCanary
from ottla.testing.simulation.coordinator.coordinator_cluster import CoordinatorCluster
from ottla.testing.simulation.coordinator.invariant import CoordinatorInvariants
from ottla.testing.simulation.coordinator.scenario import CoordinatorScenario
from ottla.testing.simulation.coordinator.world import run
from ottla.testing.simulation.runner import SimulationFailure

SEEDS = 20


def caught_by(canary: CoordinatorCanary) -> set[str]:
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
    [coordinator] = CoordinatorCluster(CoordinatorScenario.from_seed(0)).invariants
    assert isinstance(coordinator, CoordinatorInvariants)
    assert {invariant.name for invariant in coordinator.invariants} == {
        canary.invariant for canary in CANARIES.values()
    }


@pytest.mark.parametrize("name", CANARIES)
def test_the_scenario_that_it_is_caught_in_passes_without_it(name: str) -> None:
    assert run(CANARIES[name].scenario(1)).acknowledged > 0
