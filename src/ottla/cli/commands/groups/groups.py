"""Consumer groups: who is in them, how far behind they are, and where they go on.

ottla groups list
ottla groups describe billing                 lag in records, and how long the next one has been waiting
ottla groups reset billing --to 2h            shows what would change; --execute does it
ottla groups reset billing --topic orders:0 --shift -100 --execute
ottla groups delete billing
"""

import argparse

from ottla.cli.commands.records.position import POINT_HELP
from ottla.cli.connection import add_actions, run_admin
from ottla.cli.output.confirmation import add_yes, confirm

_ACTIONS = {
    "list": "list groups",
    "describe": "show the members, positions and lag of groups",
    "reset": "move a group to other offsets",
    "delete": "delete groups with the offsets that they committed",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = add_actions(parser, _ACTIONS)
    listing = actions["list"]
    listing.add_argument("--state", action="append", default=[], help="only groups in this state, such as Stable")
    listing.add_argument("--names", action="store_true", help="names only, one per line")
    describe = actions["describe"]
    describe.add_argument("groups", nargs="+", metavar="GROUP", help="the names")
    describe.add_argument("--members", action="store_true", help="members instead of partitions")
    reset = actions["reset"]
    reset.add_argument("group", metavar="GROUP", help="the group")
    target = reset.add_mutually_exclusive_group(required=True)
    target.add_argument("--to", metavar="POINT", help=POINT_HELP)
    target.add_argument("--shift", type=int, metavar="N", help="N records on, or back with -N")
    reset.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="TOPIC[:PARTITIONS]",
        help="a topic or some of its partitions (default: all that it committed)",
    )
    reset.add_argument("--execute", action="store_true", help="do it; without it nothing changes")
    delete = actions["delete"]
    delete.add_argument("groups", nargs="+", metavar="GROUP", help="the names")
    add_yes(delete)


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    if options.action == "delete":
        confirm(f"Delete {', '.join(options.groups)} with all committed offsets?", is_answered=options.yes)
    from ottla.cli.commands.groups import change as groups_change
    from ottla.cli.commands.groups import view as groups_view

    work = {
        "list": groups_view.list_groups,
        "describe": groups_view.describe,
        "reset": groups_change.reset,
        "delete": groups_change.delete,
    }
    return run_admin(options, work[options.action])
