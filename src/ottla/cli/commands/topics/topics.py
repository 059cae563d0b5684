"""Look at topics, and create, change or delete them.

ottla topics list                       all topics
ottla topics describe orders            partitions, replicas, offsets, sizes, settings
ottla topics create orders -p 6 -c retention.ms=86400000
ottla topics alter orders -p 12         more partitions
ottla topics repartition orders wide -p 12   copies into more partitions, in order per key
ottla topics describe orders --sizes    bytes and rate of each partition, the hottest first
ottla topics delete orders
"""

import argparse

from ottla.cli.connection import add_actions, run_admin
from ottla.cli.output.confirmation import add_yes

_ACTIONS = {
    "list": "list topics",
    "describe": "show the partitions and settings of topics",
    "create": "create topics",
    "delete": "delete topics with all their records",
    "alter": "add partitions, change settings",
    "repartition": "copy a topic into one with another number of partitions, in order per key",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = add_actions(parser, _ACTIONS)
    _add_view(actions)
    create = actions["create"]
    create.add_argument("topics", nargs="+", metavar="TOPIC", help="the names")
    create.add_argument("-p", "--partitions", type=int, metavar="N", help="how many (default: the cluster's)")
    create.add_argument("-r", "--replicas", type=int, metavar="N", help="copies of each (default: the cluster's)")
    create.add_argument("-c", "--config", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    create.add_argument("--if-not-exists", action="store_true", help="leave topics alone that exist")
    create.add_argument("--dry-run", action="store_true", help="only check whether it could be done")
    delete = actions["delete"]
    delete.add_argument("topics", nargs="+", metavar="TOPIC", help="the names")
    delete.add_argument("--if-exists", action="store_true", help="topics that don't exist are no error")
    add_yes(delete)
    alter = actions["alter"]
    alter.add_argument("topic", metavar="TOPIC", help="the name")
    alter.add_argument("-p", "--partitions", type=int, metavar="N", help="how many it shall have in all")
    alter.add_argument("-c", "--config", action="append", default=[], metavar="KEY=VALUE", help="set a setting")
    alter.add_argument("-u", "--unset", action="append", default=[], metavar="KEY", help="back to the default")
    alter.add_argument("--dry-run", action="store_true", help="only check whether it could be done")
    add_yes(alter)
    copy = actions["repartition"]
    copy.add_argument("old", metavar="TOPIC", help="the topic to read")
    copy.add_argument("new", metavar="NEW", help="the topic to write; it is made if it is not there")
    copy.add_argument("-p", "--partitions", type=int, metavar="N", help="how many partitions NEW gets")
    copy.add_argument(
        "--partitioner", choices=("murmur2", "crc32"), default="murmur2",
        help="how the producers of NEW choose: murmur2 as Java's and Ottla's, crc32 as librdkafka's default",
    )  # fmt: skip


def _add_view(actions: dict[str, argparse.ArgumentParser]) -> None:
    listing = actions["list"]
    listing.add_argument("--like", metavar="PATTERN", help="only names with this in them, or that match, such as 'a*'")
    listing.add_argument("--internal", action="store_true", help="also the cluster's own topics")
    listing.add_argument("--names", action="store_true", help="names only, one per line")
    listing.add_argument("--trouble", action="store_true", help="only topics with offline or lagging replicas")
    describe = actions["describe"]
    describe.add_argument("topics", nargs="+", metavar="TOPIC", help="the names")
    describe.add_argument("--all-configs", action="store_true", help="also settings at their defaults")
    describe.add_argument("--sizes", action="store_true", help="bytes and rate of each partition, the hottest first")
    describe.add_argument(
        "--seconds", type=float, default=3.0, metavar="S", help="how long --sizes looks at rates (default: 3)"
    )


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    if options.action == "delete":
        from ottla.cli.output.confirmation import confirm

        confirm(f"Delete {', '.join(options.topics)} with all records?", is_answered=options.yes)
    if options.action == "repartition":
        from ottla.cli.commands.topics.repartition import repartition

        return repartition(options)
    from ottla.cli.commands.topics import change as topics_change
    from ottla.cli.commands.topics import sizes as topics_sizes
    from ottla.cli.commands.topics import view as topics_view

    work = {
        "list": topics_view.list_topics,
        "describe": topics_sizes.sizes if options.action == "describe" and options.sizes else topics_view.describe,
        "create": topics_change.create,
        "delete": topics_change.delete,
        "alter": topics_change.alter,
    }
    return run_admin(options, work[options.action])
