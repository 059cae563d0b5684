"""`kafka-storage`: formats log directories, tells what is in them, and looks up features. Outputs are Kafka's."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Final

from ottla.cli.argument import ToolParser, add_commands
from ottla.cli.kafka.session.tool_main import tool_main

_COMMANDS: Final = (
    ("info", "tell what is in the log directories of a node"),
    ("format", "make the log directories of a node ready for use"),
    ("version-mapping", "print the feature levels that belong to a release"),
    ("feature-dependencies", "print what feature levels need"),
    ("random-uuid", "print a new random id, for example for a cluster"),
)


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    options = _parser().parse_args(arguments)
    return _RUNNERS[options.command](options)


def _parser() -> ToolParser:
    parser = ToolParser(prog="kafka-storage", description="Look after the storage of a node.")
    commands = add_commands(parser, _COMMANDS)
    for name in ("info", "format"):
        commands[name].add_argument("--config", "-c", required=True, help="the node's server.properties")
    _add_format_arguments(commands["format"])
    release = "a release or a level of metadata.version, such as 4.2 or 4.2-IV1 (default: the newest)"
    commands["version-mapping"].add_argument("--release-version", "-r", help=release)
    commands["feature-dependencies"].add_argument(
        "--feature", "-f", action="append", required=True, help="NAME=LEVEL, such as group.version=1; may be repeated"
    )
    return parser


def _add_format_arguments(parser: ToolParser) -> None:
    parser.add_argument("--cluster-id", "-t", required=True, help="the id of the cluster, the same on all its nodes")
    parser.add_argument(
        "--add-scram",
        "-S",
        action="append",
        help="a user to begin with: 'SCRAM-SHA-256=[name=alice,password=alice-secret]'; may be repeated",
    )
    parser.add_argument(
        "--ignore-formatted", "-g", action="store_true", help="leave directories alone that are formatted already"
    )
    parser.add_argument("--release-version", "-r", help="the release whose feature levels the cluster begins with")
    parser.add_argument("--feature", "-f", action="append", help="NAME=LEVEL of one feature; may be repeated")
    quorum = parser.add_mutually_exclusive_group()
    quorum.add_argument("--standalone", "-s", action="store_true", help="this controller is the quorum's only voter")
    quorum.add_argument(
        "--no-initial-controllers", "-N", action="store_true", help="this node joins a quorum that there is"
    )
    quorum.add_argument(
        "--initial-controllers", "-I", help="the quorum's first voters: id@host:port:directory, separated by commas"
    )


def _info(options: Namespace) -> int:
    from ottla.cli.kafka.subcommand.storage_info import print_info

    return print_info(options.config)


def _format(options: Namespace) -> int:
    from ottla.cli.kafka.subcommand.storage_format import run_format

    return run_format(options)


def _version_mapping(options: Namespace) -> int:
    from ottla.cli.kafka.subcommand.storage_feature import print_mapping

    return print_mapping(options.release_version)


def _feature_dependencies(options: Namespace) -> int:
    from ottla.cli.kafka.subcommand.storage_feature import print_dependencies

    return print_dependencies(options.feature)


def _random_uuid(options: Namespace) -> int:
    from ottla.cli.node.random_id import random_id

    print(random_id())
    return 0


_RUNNERS: Final[Mapping[str, Callable[[Namespace], int]]] = {
    "info": _info,
    "format": _format,
    "version-mapping": _version_mapping,
    "feature-dependencies": _feature_dependencies,
    "random-uuid": _random_uuid,
}

if __name__ == "__main__":
    sys.exit(main())
