"""What Kafka's two scripts for Connect have in common: `[-daemon] WORKER.properties`, and help in their words."""

import sys
from collections.abc import Callable, Sequence

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.cli.argument import ToolParser
from ottla.cli.daemon import DAEMON, detach, split_daemon


@frozen
class ConnectScript:
    """One of them."""

    name: str
    module: str
    description: str
    takes_connectors: bool


def start(script: ConnectScript, serve: Callable[[str, list[str]], int], arguments: Sequence[str]) -> int:
    """Runs a worker as its file says; the exit code."""
    is_daemon, rest = split_daemon(arguments)
    options = parser_of(script).parse_args(rest)
    if is_daemon:
        return detach(script.name, script.module, rest, f"{script.name}.out")
    try:
        return serve(options.worker, getattr(options, "connectors", []))
    except OttlaError as error:
        print(f"{script.name}: {error}", file=sys.stderr)
        return 1


def parser_of(script: ConnectScript) -> ToolParser:
    """Understands what stands behind the name of the script."""
    file = f"{script.name}.properties"
    more = " [connector1.properties connector2.json ...]" if script.takes_connectors else ""
    parser = ToolParser(
        prog=script.name,
        usage=f"{script.name} [-daemon] {file}{more}",
        description=script.description,
        epilog=f"{DAEMON} runs it in the background; its output is in $LOG_DIR/{script.name}.out, or in ./logs.",
    )
    parser.add_argument("worker", metavar=file, help="the worker's settings")
    if script.takes_connectors:
        parser.add_argument("connectors", metavar="CONNECTOR", nargs="*", help="a connector: properties, or .json")
    return parser
