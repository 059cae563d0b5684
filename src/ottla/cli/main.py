"""`ottla`: picks the command and imports only that.

`ottla --help` must not wait for the imports of other commands: what is listed there stands in `COMMANDS`.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.base.version import VERSION
from ottla.cli.command_parser import CommandHelp, CommandParser
from ottla.cli.ending import ends_quietly


class Command(NamedTuple):
    """A command: where the module is that knows how, and a line that says what."""

    place: str
    """Below `ottla.cli.commands`."""
    summary: str

    @property
    def module(self) -> str:
        """Its full name."""
        return f"ottla.cli.commands.{self.place}"


COMMANDS: Final = {
    "broker": Command("node.broker", "run a node that every Kafka client can use"),
    "config": Command("node.config", "explain all settings, translate a file of older Kafka"),
    "topics": Command("topics.topics", "list, describe, create, delete and alter topics"),
    "produce": Command("records.produce", "write records from the terminal, a pipe or files"),
    "consume": Command("records.consume", "read records: live, from any point, filtered"),
    "groups": Command("groups.groups", "consumer groups: members, lag, reset, delete"),
    "offsets": Command("records.offsets", "what partitions hold, and where a time begins"),
    "records": Command("records.records", "delete the records before a point"),
    "configs": Command("configs.configs", "show, set and unset settings of topics, brokers, groups"),
    "users": Command("security.users", "users who log in by SCRAM: list, set, delete"),
    "security": Command("security.security", "make and check certificates, users and settings"),
    "acls": Command("security.acls", "who may do what, and which rule decides"),
    "cluster": Command("cluster.cluster", "brokers, quorum and health; can a broker be stopped?"),
    "elect": Command("cluster.elect", "choose a leader for a partition that has lost its own"),
    "plan": Command("plan", "partitions, disk, network and files for a rate"),
    "doctor": Command("doctor.doctor", "find out why a cluster can't be used, and what helps"),
    "perf": Command("perf.perf", "measure throughput and latency"),
    "log": Command("node.log", "look into the files of a log"),
    "schemas": Command("services.schemas", "list, show, check, register and compare schemas in a registry"),
    "registry": Command("services.registry", "run a schema registry for Confluent's clients"),
    "rest": Command("services.rest", "run a REST proxy: the cluster over HTTP, with Confluent's API"),
    "pipelines": Command("services.pipelines", "run pipelines on Spark, and tell them what is wanted"),
    "connect": Command("services.connect", "run Kafka Connect with its tasks on Spark, and talk to it"),
    "streams": Command("services.streams", "streams applications: status, reset, a picture of a topology"),
    "completion": Command("completion", "completion for bash, zsh and fish"),
    "trucks": Command("services.trucks", "a pipeline to look at: broker, trucks, Spark, live view"),
}


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `ottla` with these arguments, by default those of the process; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given and given[0] in COMMANDS:
            return _run(given[0], given[1:])
        return _without_command(given)
    except OttlaError as error:
        print(f"ottla: {error}", file=sys.stderr)
        return 1


def _run(name: str, arguments: Sequence[str]) -> int:
    module = importlib.import_module(COMMANDS[name].module)
    parser = CommandParser(prog=f"ottla {name}", description=module.__doc__, formatter_class=CommandHelp)
    module.add_arguments(parser)
    code: int = module.run(parser.parse_args(arguments))
    return code


def _without_command(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="ottla",
        usage="ottla COMMAND [...]",
        description="Apache Kafka and its universe, in Python.",
        epilog=_commands_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args(given)
    if options.version:
        print(f"ottla {VERSION}")
        return 0
    if options.command is None:
        parser.print_help()
        return 0
    parser.print_usage(sys.stderr)
    print(f"ottla: there is no command {options.command}{_nearest(options.command)}", file=sys.stderr)
    return 2


def _commands_text() -> str:
    lines = [f"  {name:<11} {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(["commands:", *lines, "", "`ottla COMMAND --help` tells more about one."])


def _nearest(name: str) -> str:
    import difflib

    found = difflib.get_close_matches(name, COMMANDS, n=1)
    return f", did you mean {found[0]}?" if found else f" ({', '.join(COMMANDS)})"


if __name__ == "__main__":
    sys.exit(main())
