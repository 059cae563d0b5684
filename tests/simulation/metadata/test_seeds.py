"""A hundred clusters in trouble; `python -m ottla.testing.simulation --world metadata --seeds 10000` runs more."""

import pytest

from ottla.testing.simulation.metadata.world import METADATA
from ottla.testing.simulation.runner import run_seed

CHAOS_MS = 4000
SEEDS = 100
SEEDS_PER_TEST = 10


@pytest.mark.parametrize("first", range(0, SEEDS, SEEDS_PER_TEST))
def test_invariants_hold(first: int) -> None:
    for seed in range(first, first + SEEDS_PER_TEST):
        report = run_seed(seed, CHAOS_MS, METADATA)
        assert report.acknowledged > 0
