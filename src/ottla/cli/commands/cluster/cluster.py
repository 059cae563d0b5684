"""The cluster at a glance: brokers with what they hold, the metadata quorum, and whether all is well.

ottla cluster                  the state; with --check the exit code is 1 if something is wrong, for scripts
ottla cluster can-stop 2       would a partition fall below min.insync.replicas or lose its last leader candidate
                               without broker 2? The exit code is 1 if so; several brokers may be named
"""

import argparse

from ottla.cli.connection import add_connection, run_admin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("action", nargs="?", choices=("can-stop",), help="ask whether brokers can be stopped")
    parser.add_argument("brokers", nargs="*", type=int, metavar="ID", help="the brokers that would be stopped")
    parser.add_argument("--check", action="store_true", help="exit with 1 if something is wrong")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Prints it; the exit code."""
    if options.action == "can-stop":
        from ottla.cli.commands.cluster.can_stop import can_stop

        return run_admin(options, can_stop)
    from ottla.cli.commands.cluster.view import show

    return run_admin(options, show)
