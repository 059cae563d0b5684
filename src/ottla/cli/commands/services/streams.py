"""Applications of streams: which there are, how far they are, how to begin anew, and what a topology looks like.

ottla streams list
ottla streams status word-count                      members, lag, changelogs
ottla streams reset word-count --execute             read the inputs anew, delete what was made of them
ottla streams topology app.py --svg word-count.svg   Kafka Streams' text, and a picture
ottla streams query counts to --url host:7070        what a store says, from the instance that has the key
ottla streams run app.py                             run a program
"""

import argparse
from typing import Any

from ottla.cli.commands.records.position import POINT_HELP
from ottla.cli.connection import add_connection, run_admin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    made: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    listing = made.add_parser("list", help="list applications, by their internal topics")
    status = made.add_parser("status", help="show members, lag and changelogs of an application")
    reset = made.add_parser("reset", help="have an application begin anew")
    for action in (status, reset):
        action.add_argument("application", metavar="APPLICATION", help="its application.id")
    reset.add_argument("--input", action="append", metavar="TOPIC", help="an input topic (default: all that it reads)")
    reset.add_argument("--to", default="beginning", metavar="POINT", help=f"{POINT_HELP} (default: beginning)")
    reset.add_argument("--force", action="store_true", help="take live members out of the group")
    reset.add_argument("--execute", action="store_true", help="do it; without it nothing changes")
    for action in (listing, status, reset):
        add_connection(action)
    _add_query(made.add_parser("query", help="read a store of a running application"))
    topology = made.add_parser("topology", help="print a topology, and draw it")
    topology.add_argument(
        "program", metavar="FILE[:NAME]", help="a Python file, and the name of the topology or of its function"
    )
    topology.add_argument("--svg", metavar="FILE", help="draw it into this file, too")
    run_it = made.add_parser("run", help="run a program, as python does")
    run_it.add_argument("program", metavar="FILE", help="a Python file")
    run_it.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="its arguments")


def _add_query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", nargs="?", metavar="STORE", help="the store (default: list the stores)")
    parser.add_argument("key", nargs="?", metavar="KEY", help="one key (default: pairs of all instances)")
    parser.add_argument(
        "--url", default="http://localhost:7070", metavar="URL", help="any instance (default: http://localhost:7070)"
    )
    parser.add_argument("--cacert", metavar="FILE", help="certificates in PEM that the instance's is checked with")
    parser.add_argument("--from", dest="low", metavar="KEY|MS", help="the first key, or the first window's start")
    parser.add_argument("--to", dest="high", metavar="KEY|MS", help="the last key, or the last window's start")
    parser.add_argument("--as-of", type=int, metavar="MS", help="the value that a versioned store had at this time")
    parser.add_argument("--limit", type=int, metavar="N", help="how many pairs at most (default: 1000)")
    parser.add_argument("--timestamps", action="store_true", help="show the times of values, too")
    parser.add_argument("--stale", action="store_true", help="read a copy where the owner of a key is away")
    parser.add_argument("--local", action="store_true", help="only what this instance has")
    parser.add_argument("--metadata", action="store_true", help="show which instances have the store, or the key")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(options: argparse.Namespace) -> int:
    """Does the action; the exit code."""
    if options.action == "topology":
        return _show_topology(options)
    if options.action == "run":
        from ottla.cli.streams.program import run_program

        return run_program(options.program, options.arguments)
    if options.action == "query":
        from ottla.cli.streams.query import query

        return query(options)
    if options.action == "reset":
        from ottla.cli.streams.reset import reset

        return run_admin(options, reset)
    from ottla.cli.streams.status import list_applications, show_status

    return run_admin(options, list_applications if options.action == "list" else show_status)


def _show_topology(options: argparse.Namespace) -> int:
    from pathlib import Path

    from ottla.cli.streams.program import topology_in
    from ottla.streams.drawing import drawn

    topology = topology_in(options.program)
    print(topology.describe())
    if options.svg:
        Path(options.svg).write_text(drawn(topology), encoding="utf-8")
    return 0
