"""The cluster at a glance: brokers with what they hold, the metadata quorum, and whether all is well.

With --check the exit code is 1 if something is wrong, for scripts.
"""

import argparse

from ottla.cli.connection import add_connection, run_admin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("--check", action="store_true", help="exit with 1 if something is wrong")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Prints it; the exit code."""
    from ottla.cli.commands.cluster_view import show

    return run_admin(options, show)
