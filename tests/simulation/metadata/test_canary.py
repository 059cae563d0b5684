"""Broken controllers must be caught, each by the invariant that is there for it."""

import pytest

from ottla.testing.simulation.canary import Canary
from ottla.testing.simulation.metadata.canary import CANARIES
from ottla.testing.simulation.metadata.cluster import MetadataCluster
from ottla.testing.simulation.metadata.invariant import MetadataInvariants
from ottla.testing.simulation.metadata.world import METADATA
from ottla.testing.simulation.runner import SimulationFailure, run
from ottla.testing.simulation.scenario import Scenario

SEEDS = 20


def caught_by(canary: Canary) -> set[str]:
    """The invariants that notice, up to and with the one that must."""
    caught: set[str] = set()
    with canary.sabotage():
        for seed in range(SEEDS):
            try:
                run(canary.scenario(seed), METADATA)
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
    _, metadata = MetadataCluster(Scenario(seed=0)).invariants
    assert isinstance(metadata, MetadataInvariants)
    assert {invariant.name for invariant in metadata.invariants} == {canary.invariant for canary in CANARIES.values()}


def test_the_scenarios_that_they_are_caught_in_pass_without_them() -> None:
    for scenario in {canary.scenario for canary in CANARIES.values()}:
        assert run(scenario(1), METADATA).acknowledged > 0
