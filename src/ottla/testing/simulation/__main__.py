"""`python -m ottla.testing.simulation`: many seeds, or one of them again with its trace."""

import argparse
import sys
import time

from ottla.testing.simulation.metadata_world import METADATA
from ottla.testing.simulation.runner import QUORUM, SimulationFailure, run_seed

_WORLDS = {world.name: world for world in (QUORUM, METADATA)}


def main() -> int:
    """Runs the seeds that the command line asks for; 1 if any fails."""
    parser = argparse.ArgumentParser(prog="python -m ottla.testing.simulation", description=__doc__)
    parser.add_argument("--world", choices=_WORLDS, default=QUORUM.name, help="what to simulate (default %(default)s)")
    parser.add_argument("--seed", type=int, help="run this one seed")
    parser.add_argument("--seeds", type=int, default=200, help="run this many seeds (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default %(default)s)")
    parser.add_argument("--chaos-ms", type=int, default=15_000, help="how long faults happen (default %(default)s)")
    options = parser.parse_args()
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.seeds)
    start = time.perf_counter()
    failed: list[int] = []
    simulated_ms = committed = 0
    for seed in seeds:
        try:
            report = run_seed(seed, options.chaos_ms, _WORLDS[options.world])
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
