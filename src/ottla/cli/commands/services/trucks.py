"""A pipeline to look at: trucks report their positions, Spark finds the dangerous ones and counts them by driver.

Starts a broker, the trucks and the pipeline on this machine, and shows what happens until Ctrl-C. A second run goes on
where the first stopped. Needs Java and `pip install 'ottla[spark]'`.
"""

import argparse
from pathlib import Path
from typing import Final

from ottla.base.errors import OttlaError

_DATA: Final = "ottla-data"
_LISTEN: Final = "127.0.0.1:9092"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--data", default=_DATA, metavar="DIR", help=f"where everything is kept (default {_DATA})")
    parser.add_argument(
        "--listen", default=_LISTEN, metavar="HOST:PORT", help=f"the broker's address (default {_LISTEN})"
    )
    parser.add_argument("--seconds", type=float, help="end by itself after so many seconds, with a summary")
    parser.add_argument("--rate", type=float, default=200, help="positions per second (default 200)")
    parser.add_argument("--trucks", type=int, default=20, help="how many trucks drive (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other trucks (default 1)")
    parser.add_argument(
        "--drivers",
        metavar="WHERE",
        help="the driver table: topic:NAME for a compacted topic, or a PostgreSQL address such as "
        "postgresql://localhost/trucks (default: a table that comes with Ottla)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs it; the exit code."""
    from ottla.pipelines.session import check_java, check_pyspark

    check_java()
    check_pyspark()
    from ottla.pipelines.trucks.run import RunOptions
    from ottla.pipelines.trucks.run import run as run_trucks

    host, _, port = arguments.listen.rpartition(":")
    if not port.isdigit():
        raise OttlaError(f"--listen {arguments.listen}: expected HOST:PORT, such as {_LISTEN}")
    return run_trucks(
        RunOptions(
            data=Path(arguments.data),
            host=host or "127.0.0.1",
            port=int(port),
            seconds=arguments.seconds,
            per_second=arguments.rate,
            trucks=arguments.trucks,
            seed=arguments.seed,
            drivers=arguments.drivers,
        )
    )
