"""The settings of a node: their reference, and files of older Kafka written anew.

ottla config docs --of topic                          every setting of a topic: type, default, limits, meaning
ottla config upgrade old/server.properties > new.properties
"""

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    docs = actions.add_parser("docs", help="print the reference", description="Print the reference of all settings.")
    docs.add_argument(
        "--format",
        choices=("text", "markdown", "json"),
        default="text",
        help="the form of the reference (default: text)",
    )
    docs.add_argument(
        "--of",
        choices=("broker", "topic", "group", "client-metrics"),
        help="only the settings of these (default: all of them)",
    )
    upgrade = actions.add_parser(
        "upgrade",
        help="print a server.properties of older Kafka as 4.3 wants it",
        description="Print a server.properties of older Kafka as 4.3 wants it, with a comment at each changed line.",
    )
    upgrade.add_argument("file", metavar="FILE", help="the server.properties; it is left as it is")


def run(options: argparse.Namespace) -> int:
    """Prints; the exit code."""
    if options.action == "upgrade":
        from ottla.cli.node.config_upgrade import upgraded_file

        sys.stdout.write(upgraded_file(options.file))
        return 0
    from ottla.cli.node.config_reference import reference, render

    sys.stdout.write(render(reference(options.of), options.format))
    return 0
