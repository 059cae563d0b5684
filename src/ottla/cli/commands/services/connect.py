"""Kafka Connect: runs a worker with its REST API and its tasks on Spark, and talks to workers.

ottla connect --config connect-distributed.properties    a worker of a cluster
ottla connect standalone worker.properties lines.json    a worker of its own, connectors from files
ottla connect list                                       connectors with their states
ottla connect status lines                               its tasks, with their records, lag and failures
ottla connect create lines.json                          a connector from a file, or its new settings
ottla connect pause lines                                resume, stop, restart and delete likewise
ottla connect redrive lines-dead                         sends dead letters back to their topics
ottla connect new my-connector                           a connector in Python with its test, to begin with
"""

import argparse
from typing import Any, Final

from ottla.cli.service_option import add_service_arguments

_CHANGES: Final = ("pause", "resume", "stop", "restart", "delete")
_URL: Final = "http://localhost:8083"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    add_service_arguments(parser, ":8083")
    _add_no_runner(parser)
    made: Any = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")

    def action(name: str, summary: str) -> argparse.ArgumentParser:
        found: argparse.ArgumentParser = made.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        return found

    standalone = action("standalone", "run a worker of its own with connectors from files")
    standalone.add_argument("worker", metavar="WORKER", help="its settings, under Kafka Connect's names")
    standalone.add_argument("connectors", metavar="CONNECTOR", nargs="*", help="properties, or .json")
    _add_no_runner(standalone)
    _add_url(action("list", "list connectors with their states"))
    show = action("show", "print a connector's settings, status and offsets")
    status = action("status", "print a connector's tasks with their records, lag and failures")
    create = action("create", "create a connector from a file, or give one new settings")
    create.add_argument("file", metavar="FILE", help="properties, or .json; - reads JSON from the input")
    _add_url(create)
    for parser_of_one in (show, status, *(action(name, f"{name} a connector") for name in _CHANGES)):
        parser_of_one.add_argument("name", metavar="CONNECTOR")
        _add_url(parser_of_one)
    _add_redrive(action("redrive", "send dead letters back to their topics"))
    new = action("new", "make a connector in Python with its test, to begin with")
    new.add_argument("name", metavar="NAME", help="its name, such as my-connector")
    new.add_argument("--sink", action="store_true", help="one that takes records; by default it brings some")


def _add_no_runner(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-runner", action="store_true", help="only the REST API; `ottla pipelines run` runs the tasks elsewhere"
    )


def _add_url(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", default=_URL, help=f"a worker, also https://USER:PASSWORD@HOST:PORT (default: {_URL})")
    parser.add_argument("--cacert", metavar="FILE", help="the authority that signed its certificate, in PEM")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def _add_redrive(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", help="the topic of dead letters")
    parser.add_argument(
        "-b", "--bootstrap", "--bootstrap-server", metavar="HOST:PORT",
        help="brokers to begin with (default: $OTTLA_BOOTSTRAP or localhost:9092)",
    )  # fmt: skip
    parser.add_argument("--command-config", metavar="FILE", help="a file with settings of the client, such as TLS")
    parser.add_argument(
        "-X", dest="settings", metavar="KEY=VALUE", action="append", default=[], help="one such setting"
    )
    parser.add_argument("--to", metavar="TOPIC", help="where to, instead of the topic that each one came from")
    parser.add_argument("--max", type=int, metavar="N", help="how many at the most")
    parser.add_argument("--group", help="the group that notes what was sent (default: ottla-redrive-TOPIC)")


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    if options.action is None or options.action == "standalone":
        from ottla.cli.connect.serve import distributed, standalone

        return distributed(options) if options.action is None else standalone(options)
    if options.action == "redrive":
        from ottla.cli.connect.redrive import redrive

        return redrive(options)
    if options.action == "new":
        from ottla.cli.connect.template import make

        return make(options)
    from ottla.cli.connect.ask import tell

    return tell(options)
