"""Everything that a secure cluster begins with: an authority, certificates, users, and files of settings.

ottla security init secure --host broker.example.org --user alice
kafka-storage.sh format --standalone -t "$(kafka-storage.sh random-uuid)" -c secure/server.properties
kafka-server-start.sh secure/server.properties
"""

import argparse
from pathlib import Path
from typing import Final

from ottla.cli.output.advice import CommandError

_DAYS: Final = 825


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    init = actions.add_parser(
        "init", help="make a directory with certificates, users and settings", description=_about()
    )
    init.add_argument(
        "directory", type=Path, metavar="DIRECTORY", help="the directory to make; it may exist if it is empty"
    )
    init.add_argument(
        "--host", action="append", default=[], help="a name or address of the broker (default: localhost)"
    )
    init.add_argument("--user", action="append", default=[], help="a user beside admin, who may do what rules allow")
    init.add_argument("--port", type=int, default=9092, help="the port for clients (default: 9092)")
    init.add_argument("--controller-port", type=int, default=9093, help="the port for controllers (default: 9093)")
    init.add_argument("--days", type=int, default=_DAYS, help=f"how long certificates are good (default: {_DAYS})")
    check = actions.add_parser("check", help="find weak settings, keys and certificates", description=_about_check())
    check.add_argument("place", type=Path, metavar="DIRECTORY|FILE", help="files of settings, keys and certificates")
    check.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    return _check(options) if options.action == "check" else _init(options)


def _check(options: argparse.Namespace) -> int:
    from ottla.cli.commands.doctor.finding import Report
    from ottla.cli.commands.security.check import check

    place: Path = options.place
    if not place.exists():
        raise CommandError(f"{place} is not there; give a directory, or a file of settings, keys or certificates")
    report = Report(is_json=options.json)
    for finding in check(place):
        report.add(finding)
    return report.conclude()


def _init(options: argparse.Namespace) -> int:
    from ottla.cli.commands.security.file import ADMIN, Plan, write

    directory: Path = options.directory
    if directory.exists() and any(directory.iterdir()):
        raise CommandError(f"{directory} is not empty; give a directory that is not there yet")
    plan = Plan(
        directory.absolute(),
        tuple(dict.fromkeys(options.host or ["localhost"])),
        tuple(dict.fromkeys([ADMIN, *options.user])),
        (options.port, options.controller_port),
        options.days,
    )
    for name, what in write(plan):
        print(f"{directory / name}: {what}")
    return 0


def _about() -> str:
    return (
        "Makes an authority, a certificate for the broker, users with strong passwords, server.properties, and for "
        "each user files with the settings of Java's clients and tools, of librdkafka, Python and Spark."
    )


def _about_check() -> str:
    return (
        "Finds expired and soon expiring certificates, keys of other certificates, missing subject alternative names, "
        "secrets that others may read, passwords without TLS, and host names that are not checked. Exit code 1 if "
        "anything is wrong."
    )
