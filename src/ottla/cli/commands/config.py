"""Print the reference of all settings: name, type, default, allowed values, how it can be changed, and what it does."""

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    docs = actions.add_parser("docs", help="print the reference", description="Print the reference of all settings.")
    docs.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="(default: text)")
    docs.add_argument(
        "--of",
        choices=("broker", "topic", "group", "client-metrics"),
        help="only the settings of these (default: all of them)",
    )


def run(options: argparse.Namespace) -> int:
    """Prints the reference; the exit code."""
    from ottla.cli.config_reference import reference, render

    sys.stdout.write(render(reference(options.of), options.format))
    return 0
