"""Settings of topics, brokers, groups and client metrics, as the cluster has them.

ottla configs show topic orders                      changed settings; --all shows the defaults too
ottla configs set topic orders retention.ms=86400000 cleanup.policy+=compact
ottla configs unset topic orders retention.ms        back to the default
ottla configs show broker 1 --all --like retention   names with this in them
ottla configs set broker default log.retention.ms=86400000
"""

import argparse

from ottla.cli.connection import add_actions, run_admin

KINDS = ("topic", "broker", "group", "client-metrics", "broker-logger")
_ACTIONS = {
    "show": "show settings and where they come from",
    "set": "change settings",
    "unset": "give settings their defaults back",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = add_actions(parser, _ACTIONS)
    for action in actions.values():
        action.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
        action.add_argument("name", metavar="NAME", help="which one; `default` stands for all brokers")
    actions["show"].add_argument("--like", default="", metavar="TEXT", help="only names with this in them")
    actions["show"].add_argument("--all", action="store_true", help="also settings at their defaults")
    actions["show"].add_argument("--docs", action="store_true", help="show what they mean, too")
    actions["set"].add_argument("changes", nargs="+", metavar="KEY=VALUE", help="KEY+=ITEM and KEY-=ITEM for lists")
    actions["unset"].add_argument("keys", nargs="+", metavar="KEY", help="the settings")
    for name in ("set", "unset"):
        actions[name].add_argument("--dry-run", action="store_true", help="only check whether it could be done")


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    from ottla.cli.commands.configs.change import change
    from ottla.cli.commands.configs.show import show

    return run_admin(options, show if options.action == "show" else change)
