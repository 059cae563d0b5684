"""`schema-registry-start`: runs a schema registry as a `schema-registry.properties` file says; `-daemon` behind it."""

import sys
from collections.abc import Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.argument import ToolParser
from ottla.cli.daemon import detach
from ottla.cli.ending import ends_quietly

DAEMON: Final = "-daemon"
MODULE: Final = "ottla.cli.kafka.schema_registry_start"
_OUTPUT: Final = "schema-registry.out"


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_daemon = given[:1] == [DAEMON]
    rest = given[1:] if is_daemon else given
    options = schema_registry_start_parser().parse_args(rest)
    if is_daemon:
        return detach("schema-registry-start", MODULE, rest, _OUTPUT)
    return _serve(options.config)


def schema_registry_start_parser() -> ToolParser:
    """Understands what stands behind the name of the tool and `-daemon`."""
    parser = ToolParser(
        prog="schema-registry-start",
        usage="schema-registry-start [-daemon] schema-registry.properties",
        description="Run a schema registry as a file says.",
        epilog=f"{DAEMON} runs it in the background, its output in $LOG_DIR/{_OUTPUT} (./logs without $LOG_DIR).",
    )
    parser.add_argument("config", metavar="schema-registry.properties", help="its settings, under Confluent's names")
    return parser


def _serve(path: str) -> int:
    from ottla.base.config_file import parse_properties
    from ottla.cli.commands.registry import serve

    try:
        with open(path, encoding="utf-8") as file:
            return serve(parse_properties(file.read()))
    except (OSError, OttlaError) as error:
        print(f"schema-registry-start: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
