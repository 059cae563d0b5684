"""Measure a cluster: how much can be written and read, and how long a record is on its way.

  ottla perf produce bench -n 1000000 --size 100
  ottla perf consume bench
  ottla perf latency bench -n 1000

Throughput is that of one client in one process. -X sets any setting of the client, such as -X linger.ms=5.
"""

import argparse

from ottla.cli.connection import add_actions

_ACTIONS = {
    "produce": "write records as fast as they are taken",
    "consume": "read records as fast as they come",
    "latency": "send one record at a time and wait until it comes back",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = add_actions(parser, _ACTIONS)
    for action in actions.values():
        action.add_argument(
            "topic", metavar="TOPIC", help="a topic for this test: it is filled with meaningless records"
        )
    for name, count in (("produce", 1_000_000), ("consume", None), ("latency", 1_000)):
        what = "records" if count is None else f"records (default: {count:,})"
        actions[name].add_argument("-n", "--count", type=int, default=count, metavar="N", help=f"how many {what}")
    for name in ("produce", "latency"):
        actions[name].add_argument(
            "--size", type=int, default=100, metavar="BYTES", help="the size of a value (default: 100)"
        )
    actions["produce"].add_argument("--rate", type=float, metavar="N", help="records per second (default: no limit)")
    actions["produce"].add_argument(
        "--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"), help="the codec for batches (default: none)"
    )
    actions["produce"].add_argument(
        "--acks", choices=("0", "1", "all"), help="the acknowledgement to wait for (default: all)"
    )
    actions["consume"].add_argument("--arrow", action="store_true", help="read whole columns, by poll_arrow()")


def run(options: argparse.Namespace) -> int:
    """Measures; the exit code."""
    from ottla.cli.connection import explained
    from ottla.cli.output.advice import CommandError

    if options.count is not None and options.count < 1:
        raise CommandError("-n needs at least 1 record")
    with explained(options):
        if options.action == "produce":
            from ottla.cli.commands.perf.produce import measure_produce

            return measure_produce(options)
        if options.action == "consume":
            from ottla.cli.commands.perf.consume import measure_consume

            return measure_consume(options)
        from ottla.cli.commands.perf.latency import measure_latency

        return measure_latency(options)
