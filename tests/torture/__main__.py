"""`python -m tests.torture --seconds 60 [--seed N]`: real clients under kill -9, and what they saw, checked.

The history and the broker's data stay where the verdict says if anything is wrong; otherwise they are removed.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.clients.server import APACHE, OTTLA
from tests.torture.change_run import ChangeRun
from tests.torture.checker import check
from tests.torture.plan import Plan
from tests.torture.race_run import RaceRun
from tests.torture.recording import failures
from tests.torture.run import Run
from tests.torture.verdict import verdict


def main() -> int:
    """One run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--nodes", type=int, default=1, help="so many nodes, and an operator who moves replicas")
    parser.add_argument("--secure", action="store_true", help="nodes with TLS, log-in and rights between them")
    parser.add_argument("--own", action="store_true", help="clients of `ottla.client` alone")
    parser.add_argument("--old-transactions", action="store_true", help="transactions as before KIP-890")
    parser.add_argument("--changes", action="store_true", help="three nodes, and topics that change, instead")
    parser.add_argument("--races", action="store_true", help="two nodes whose threads meet all the time, instead")
    parser.add_argument("--peer", action="store_true", help="torture Apache Kafka, to try the checks themselves")
    parser.add_argument("--errors", action="store_true", help="show what clients complained about")
    parser.add_argument("--keep", action="store_true", help="keep the history in any case")
    parser.add_argument("--directory", type=Path, help="where to put the history and the broker's data")
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="ottla-torture-"))
    print(f"seed {arguments.seed}, {arguments.seconds:g} s, history in {directory}", flush=True)
    # The clean-up ends clients and nodes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kind = APACHE if arguments.peer else OTTLA
    plan = Plan(
        arguments.seconds,
        arguments.seed,
        directory,
        kind,
        arguments.nodes,
        is_secure=arguments.secure,
        is_own=arguments.own,
        has_old_transactions=arguments.old_transactions,
    )
    if arguments.races or arguments.changes:
        wrong = promised(RaceRun(plan) if arguments.races else ChangeRun(plan))
    else:
        wrong = torture(plan, show_errors=arguments.errors)
    if not wrong and not arguments.keep:
        shutil.rmtree(directory)
    return 1 if wrong else 0


def promised(run: ChangeRun | RaceRun) -> bool:
    """Topics that change, or threads that meet; whether anything is wrong."""
    wrong = run.wrongs()
    print("".join(f"{count:8,} {text}\n" for text, count in sorted(run.events.items())), end="")
    print("\n".join(wrong) or "Nothing is wrong.")
    return bool(wrong)


def torture(plan: Plan, *, show_errors: bool) -> bool:
    """Clients and their history; whether anything is wrong."""
    run = Run(plan)
    history = run.history()
    anomalies = check(history)
    print(verdict(history, anomalies, run.events))
    if show_errors:
        print("".join(f"{count:8,} {text}\n" for text, count in sorted(failures(run.histories).items())))
    return bool(anomalies)


if __name__ == "__main__":
    sys.exit(main())
