"""`python -m tests.soak --minutes 60 [--nodes 3] [--seed N]`: churn on real nodes, and what they hold before and after.

It ends by itself; exit code 1 if anything grew, a node ended or logged an error. Nothing is left behind then but the
nodes' logs and the samples, where the verdict says.
"""

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.soak.run import SoakRun, keep_reports
from tests.soak.verdict import table
from tests.torture.plan import Plan


def main() -> int:
    """One run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--nodes", type=int, choices=(1, 3), default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--directory", type=Path, help="where to put the nodes' data")
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="ottla-soak-"))
    print(f"seed {arguments.seed}, {arguments.minutes:g} minutes, {arguments.nodes} nodes, {directory}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run = SoakRun(Plan(arguments.minutes * 60, arguments.seed, directory, nodes=arguments.nodes), _say)
    try:
        wrong = run.wrongs()
    except BaseException:
        keep_reports(directory)
        raise
    print("".join(f"{count:8,} {text}\n" for text, count in sorted(run.events.items())), end="")
    for index in range(arguments.nodes):
        print(f"\nnode {index + 1}")
        print(table({moment: samples[index] for moment, samples in run.moments.items()}))
    if not wrong:
        print("\nNothing grew.")
        shutil.rmtree(directory)
        return 0
    keep_reports(directory)
    (directory / "samples.json").write_text("".join(json.dumps(asdict(sample)) + "\n" for sample in run.samples))
    print("\n" + "\n".join(wrong) + f"\nlogs and samples in {directory}")
    return 1


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
