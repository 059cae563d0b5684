"""Looks at every replica of a partition without a leader, and elects the one that loses least.

Kafka refuses to elect a replica that is not in sync, because records may be lost. When the brokers that were in sync
don't come back, an operator has to choose. This asks each live replica for its log end and its last leader epoch, shows
what every choice would lose, and with --execute elects the best one.
"""

import argparse

from ottla.cli.connection import add_connection, run_admin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("partition", metavar="TOPIC:PARTITION", help="the partition, for example orders:0")
    parser.add_argument("--execute", action="store_true", help="elect the best replica; without it nothing changes")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Shows the choices, elects if asked to; the exit code."""
    from ottla.cli.commands.cluster.elect_replica import elect

    return run_admin(options, elect)
