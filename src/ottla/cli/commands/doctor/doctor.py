"""Find out why a cluster can't be used, and what helps.

Looks at names, ports, the protocol, TLS and passwords, the addresses that brokers advertise, versions, clocks,
permissions and health; with --data also at a broker's directory on this machine: its permissions, its disk. Changes
nothing. The exit code is 1 if something is wrong.

  ottla doctor -b broker.example:9092 --command-config client.properties
  ottla doctor --topic orders             may I read and write this topic?
  ottla doctor --data ottla-data          has the broker room and rights there?
"""

import argparse

from ottla.cli.connection import add_connection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "--topic", action="append", default=[], help="check also whether this topic can be read and written"
    )
    parser.add_argument("--data", metavar="DIR", help="check also a broker's data directory on this machine")
    parser.add_argument("--data-only", action="store_true", help="check only the data directory, without the network")
    parser.add_argument(
        "--timeout", type=float, default=5.0, metavar="S", help="how long each step may take (default: 5 seconds)"
    )
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Examines; 1 if something is wrong."""
    import asyncio

    from ottla.cli.commands.doctor.finding import Report
    from ottla.cli.commands.doctor.visit import visit
    from ottla.cli.output.advice import CommandError

    if options.data_only and options.data is None:
        raise CommandError("--data-only needs a directory: add --data DIR")
    report = Report(is_json=options.json)
    asyncio.run(visit(options, report))
    return report.conclude()
