"""Size a cluster for a rate: partitions, disk, network, open files and fail-over.

  ottla plan --target 200MB/s --produce 10MB/s --consume 25MB/s
  ottla plan --target 200MB/s --measure -b HOST:PORT     what one partition takes and gives is measured there
  ottla plan --target 50MB/s --produce 10MB/s --consume 25MB/s --retention 30d --brokers 6 --readers 4

One partition is written at the rate that --produce says and read at the rate that --consume says; what your consumers
do with a record counts there, not what a broker can send. docs/PLANNING.md has the formulas.
"""

import argparse

from ottla.cli.connection import add_connection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("--target", required=True, metavar="RATE", help="the rate at the peak, such as 200MB/s")
    parser.add_argument("--produce", metavar="RATE", help="the rate at which one partition is written (p)")
    parser.add_argument("--consume", metavar="RATE", help="the rate at which one consumer handles one partition (c)")
    parser.add_argument("--measure", action="store_true", help="measure what is not given, in a topic made for it")
    parser.add_argument(
        "--size", type=int, default=1000, metavar="BYTES", help="the size of a measured record (default: 1000)"
    )
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long to measure (default: 5)")
    parser.add_argument(
        "--retention", default="7d", metavar="TIME", help="how long records are kept, such as 12h or 30d (default: 7d)"
    )
    parser.add_argument("--replicas", type=int, default=3, metavar="N", help="copies of each partition (default: 3)")
    parser.add_argument("--brokers", type=int, metavar="N", help="how many brokers (default: as many as replicas)")
    parser.add_argument("--readers", type=int, default=1, metavar="N", help="groups that read all of it (default: 1)")
    parser.add_argument(
        "--headroom", type=float, default=30, metavar="%", help="the share of disks that stays free (default: 30)"
    )
    parser.add_argument("--segment", default="1GiB", metavar="SIZE", help="segment.bytes (default: 1GiB)")
    parser.add_argument(
        "--connections", type=int, default=1000, metavar="N", help="connections of a broker (default: 1000)"
    )
    parser.add_argument("--session", default="9s", metavar="TIME", help="broker.session.timeout.ms (default: 9s)")
    parser.add_argument(
        "--election",
        default="5ms",
        metavar="TIME",
        help="the time to move one leadership (default: 5ms; a cautious guess)",
    )
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the plan; the exit code."""
    from ottla.cli.commands.plan_view import show

    return show(options)
