"""`python -m ottla.testing.simulation`: many seeds, or one of them again with its trace."""

import argparse
import logging
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

from ottla.testing.simulation.coordinator import world as coordinator_world
from ottla.testing.simulation.metadata.world import METADATA
from ottla.testing.simulation.runner import QUORUM, RunReport, SimulationFailure, run_seed

_WORLDS: Mapping[str, Callable[[int, int], RunReport]] = {
    **{world.name: partial(run_seed, world=world) for world in (QUORUM, METADATA)},
    coordinator_world.NAME: coordinator_world.run_seed,
}


def main() -> int:
    """Runs the seeds that the command line asks for; 1 if any fails."""
    parser = argparse.ArgumentParser(prog="python -m ottla.testing.simulation", description=__doc__)
    parser.add_argument("--world", choices=_WORLDS, default=QUORUM.name, help="what to simulate (default %(default)s)")
    parser.add_argument("--seed", type=int, help="run this one seed")
    parser.add_argument("--seeds", type=int, default=200, help="run this many seeds (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default %(default)s)")
    parser.add_argument("--chaos-ms", type=int, default=15_000, help="how long faults happen (default %(default)s)")
    options = parser.parse_args()
    # What goes wrong in here is meant to.
    logging.disable(logging.CRITICAL)
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.seeds)
    start = time.perf_counter()
    failed: list[int] = []
    simulated_ms = committed = 0
    for seed in seeds:
        try:
            report = _WORLDS[options.world](seed, options.chaos_ms)
        except SimulationFailure as failure:
            failed.append(seed)
            print(failure, file=sys.stderr)
            continue
        simulated_ms += report.simulated_ms
        committed += report.committed
        if options.seed is not None:
            print(report)
    elapsed = time.perf_counter() - start
    rate = simulated_ms / 1000 / elapsed
    print(f"{len(seeds)} seeds, {committed} records committed, {rate:.0f} simulated seconds per second")
    if failed:
        print(f"failed seeds: {' '.join(map(str, failed))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
