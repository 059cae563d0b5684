"""`python -m tests.torture --seconds 60 [--seed N]`: real clients under kill -9, and what they saw, checked.

The history and the broker's data stay where the verdict says if anything is wrong; otherwise they are removed.
"""

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from tests.clients.server import APACHE, OTTLA
from tests.torture.checker import check
from tests.torture.recording import failures
from tests.torture.run import Plan, Run
from tests.torture.verdict import verdict


def main() -> int:
    """One run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--peer", action="store_true", help="torture Apache Kafka, to try the checks themselves")
    parser.add_argument("--errors", action="store_true", help="show what clients complained about")
    parser.add_argument("--keep", action="store_true", help="keep the history in any case")
    parser.add_argument("--directory", type=Path, help="where to put the history and the broker's data")
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="ottla-torture-"))
    print(f"seed {arguments.seed}, {arguments.seconds:g} s, history in {directory}", flush=True)
    run = Run(Plan(arguments.seconds, arguments.seed, directory, APACHE if arguments.peer else OTTLA))
    history = run.history()
    anomalies = check(history)
    print(verdict(history, anomalies, run.events))
    if arguments.errors:
        print("".join(f"{count:8,} {text}\n" for text, count in sorted(failures(run.histories).items())))
    if not anomalies and not arguments.keep:
        shutil.rmtree(directory)
    return 1 if anomalies else 0


if __name__ == "__main__":
    sys.exit(main())
