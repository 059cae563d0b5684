"""Many clusters in trouble; `python -m ottla.testing.simulation --world coordinator --seeds 10000` runs more."""

import pytest

from ottla.testing.simulation.coordinator.world import run_seed

CHAOS_MS = 5000
SEEDS = 150
SEEDS_PER_TEST = 10


@pytest.mark.parametrize("first", range(0, SEEDS, SEEDS_PER_TEST))
def test_invariants_hold(first: int) -> None:
    acknowledged = sum(run_seed(seed, CHAOS_MS).acknowledged for seed in range(first, first + SEEDS_PER_TEST))
    assert acknowledged > SEEDS_PER_TEST


@pytest.mark.parametrize("seed", [2600190], ids=["offsets that outlive their transaction"])
def test_a_seed_that_once_failed(seed: int) -> None:
    assert run_seed(seed, 15_000).acknowledged > 0
