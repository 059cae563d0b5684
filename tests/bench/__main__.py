"""Runs the benchmarks and prints the table: `python -m tests.bench [--quick] [name …]`."""

import argparse
import importlib
import sys

from tests.bench.measure import Figure

SUITES = (
    "messages",
    "records",
    "arrow",
    "columns",
    "storage",
    "storage_manager",
    "raft",
    "metadata",
    "rights",
    "net",
    "replication",
    "pipeline",
    "broker",
    "tls",
    "coordinator",
    "registry",
    "rest",
    "client_producer",
    "client_consumer",
    "connect",
    "spark_source",
    "spark_latency",
    "runner",
    "spark_profile",
    "streams",
    "streams_local",
)


def main() -> int:
    """Runs the chosen suites, one table each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter rounds: a minute for everything")
    parser.add_argument("suites", nargs="*", help=f"which suites to run; all by default: {', '.join(SUITES)}")
    arguments = parser.parse_args()
    for name in arguments.suites or SUITES:
        suite = importlib.import_module(f"tests.bench.{name}")
        print(f"\n{suite.__doc__.splitlines()[0]}\n")
        print(f"{'what':<44}{'ours':>12}  {'unit':<12}{'target':<14}others (ours is … times theirs)")
        for figure in suite.figures(seconds=0.15 if arguments.quick else 1.0):
            print(_line(figure), flush=True)
    return 0


def _line(figure: Figure) -> str:
    others = ", ".join(f"{name} {_short(rate)} ({figure.ours / rate:.2f}×)" for name, rate in figure.peers.items())
    return f"{figure.name:<44}{_short(figure.ours):>12}  {figure.unit + figure.per:<12}{figure.target:<14}{others}"


def _short(rate: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.2f} {letter}"
    return f"{rate:.1f}" if rate >= 1 else f"{rate:.3f}"


if __name__ == "__main__":
    sys.exit(main())
