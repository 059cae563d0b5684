"""The supervision by seed: crashes of runners and control processes at any step, users who change their minds."""

import os
from dataclasses import replace

import pytest

from ottla.pipelines.runner.supervision.option import SupervisionOptions
from tests.simulation.pipelines.world import LEASED, OPTIONS, BrokenInvariantError, World

SEEDS = int(os.environ.get("OTTLA_SUPERVISION_SEEDS", "20"))
CALM_MS = 240_000


def play(seed: int, *, options: SupervisionOptions = OPTIONS, has_locks: bool = True) -> World:
    """Five minutes of trouble, then some of calm."""
    world = World(seed, options=options, has_locks=has_locks)
    world.add_control()
    try:
        while world.now_ms < 300_000:
            world.run(world.now_ms + world.random.choice([50, 500, 3_000, 20_000]))
            world.random_step()
            world.check()
        world.is_calm = True
        if not world.controls:
            world.add_control()
        world.rebalance()
        world.run(world.now_ms + CALM_MS)
        world.check_reached()
    except BrokenInvariantError as error:
        raise BrokenInvariantError(f"seed {seed}: {error}") from error
    return world


@pytest.mark.parametrize("has_locks", [True, False], ids=["locks", "leases"])
def test_every_pipeline_gets_where_it_is_wanted_and_none_runs_twice(has_locks: bool) -> None:
    worlds = [play(seed, options=OPTIONS if has_locks else LEASED, has_locks=has_locks) for seed in range(SEEDS)]
    assert sum(world.queries_started for world in worlds) > 20 * len(worlds)


def test_the_same_seed_is_the_same_story() -> None:
    first, second = play(1), play(1)
    assert first.statuses == second.statuses
    assert first.queries_started == second.queries_started


def test_the_canary_is_found() -> None:
    """Without locks and without patience two runners do meet on a checkpoint."""
    careless = replace(LEASED, takeover_ms=0)
    with pytest.raises(BrokenInvariantError, match="OneRunnerPerCheckpoint"):
        _ = [play(seed, options=careless, has_locks=False) for seed in range(200)]
