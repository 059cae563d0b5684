"""Schemas in a registry: ours, or any other that speaks Confluent's API.

ottla schemas list                                   the latest version of each subject
ottla schemas check orders-value new.avsc            may it be the next version, and if not, what must change?
ottla schemas register orders-value new.avsc
ottla schemas diff orders-value 1 latest             two versions, or a version and a file
ottla schemas config orders-value --level full
ottla schemas generate orders-value --out orders     typed Python classes
"""

import argparse
from typing import Any, Final

from ottla.cli.schemas.option import add_file, add_kind, add_registry

_ACTIONS: Final = {
    "list": "list subjects with their latest version",
    "show": "print a schema",
    "register": "make a file the next version",
    "check": "tell whether a file may be the next version, and why not",
    "diff": "show how two versions, or a version and a file, differ",
    "delete": "delete a subject, or a version of it",
    "generate": "write Python modules with classes for a schema",
    "config": "show or change the compatibility level",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    made: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    actions: dict[str, argparse.ArgumentParser] = {
        name: made.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        for name, summary in _ACTIONS.items()
    }
    for action in actions.values():
        add_registry(action)
    actions["list"].add_argument("prefix", nargs="?", help="only subjects that begin with this")
    actions["list"].add_argument("--deleted", action="store_true", help="those that were deleted, too")
    for name in ("show", "register", "check", "diff", "delete"):
        actions[name].add_argument("subject", metavar="SUBJECT", help="such as orders-value")
    actions["show"].add_argument("--version", default="latest", metavar="N", help="which one (default: latest)")
    actions["show"].add_argument("--versions", action="store_true", help="only the numbers that there are")
    for name in ("register", "check"):
        add_file(actions[name])
    actions["register"].add_argument("--normalize", action="store_true", help="order what has no order first")
    actions["diff"].add_argument("old", nargs="?", default="latest", metavar="OLD", help="a version (default: latest)")
    actions["diff"].add_argument("new", metavar="NEW", help="a version, or a file")
    actions["delete"].add_argument("--version", type=int, metavar="N", help="only this one")
    actions["delete"].add_argument("--permanent", action="store_true", help="for good, after it was deleted")
    actions["delete"].add_argument("--yes", "-y", action="store_true", help="don't ask")
    actions["generate"].add_argument(
        "source", metavar="SUBJECT|FILE", help="a subject, or an .avsc, .json or .proto file"
    )
    actions["generate"].add_argument("--out", required=True, metavar="PACKAGE", help="the directory for the modules")
    actions["generate"].add_argument("--package", metavar="NAME", help="what it is imported as (default: its name)")
    actions["generate"].add_argument("--version", default="latest", metavar="N", help="which one (default: latest)")
    add_kind(actions["generate"])
    actions["config"].add_argument("subject", nargs="?", metavar="SUBJECT", help="the whole registry by default")
    actions["config"].add_argument("--level", metavar="LEVEL", help="none, backward, forward, full, …_transitive")
    actions["config"].add_argument("--unset", action="store_true", help="follow the registry's level again")


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    from ottla.cli.schemas.registry_call import RegistryCall

    registry = RegistryCall.of(options)
    if options.action in ("list", "show", "diff"):
        from ottla.cli.schemas import view

        looks = {"list": view.list_subjects, "show": view.show, "diff": view.diff}
        return looks[options.action](registry, options)
    if options.action == "generate":
        from ottla.cli.schemas.generate import generate

        return generate(registry, options)
    if options.action == "check":
        from ottla.cli.schemas.check import check

        return check(registry, options)
    from ottla.cli.schemas import change

    changes = {"register": change.register, "delete": change.delete, "config": change.configure}
    return changes[options.action](registry, options)
