"""`kafka-server-start`: runs a node as a `server.properties` file says, in the foreground or with `-daemon` behind it.

With `-daemon` the output goes to `kafkaServer.out` in `$LOG_DIR`, or in `./logs`. `$OTTLA_LOG_LEVEL` and
`$OTTLA_LOG_FORMAT` stand in for log4j's file.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.argument import KAFKA_VERSION, ToolParser
from ottla.cli.daemon import DAEMON, detach, split_daemon
from ottla.cli.kafka.session.tool_main import tool_main

MODULE: Final = "ottla.cli.kafka.server_start"
_OUTPUT: Final = "kafkaServer.out"
_LOG_LEVEL: Final = "OTTLA_LOG_LEVEL"
_LOG_FORMAT: Final = "OTTLA_LOG_FORMAT"


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    is_daemon, rest = split_daemon(arguments)
    parser = server_start_parser()
    if not rest:
        print(f"USAGE: {Path(sys.argv[0]).name} [-daemon] server.properties [--override property=value]*")
        return 1
    options = parser.parse_args(rest)
    if options.version:
        print(KAFKA_VERSION)
        return 0
    if options.config is None:
        parser.error("too few arguments")
    if is_daemon:
        return detach("kafka-server-start", MODULE, rest, _OUTPUT)
    return _serve(options.config, options.override)


def server_start_parser() -> ToolParser:
    """Understands what stands behind the name of the tool and `-daemon`."""
    parser = ToolParser(
        prog="kafka-server-start",
        usage="kafka-server-start [-daemon] server.properties [--override property=value]*",
        description="Run a node as a file says.",
        epilog=f"{DAEMON} runs it in the background, its output in $LOG_DIR/{_OUTPUT} (./logs without $LOG_DIR).",
    )
    parser.add_argument("config", nargs="?", metavar="server.properties", help="the node's settings")
    parser.add_argument(
        "--override", action="append", default=[], metavar="property=value", help="a setting that counts instead"
    )
    parser.add_argument("--version", action="store_true", help="print the version of Kafka whose behaviour this has")
    return parser


def _serve(path: str, overrides: Sequence[str]) -> int:
    from ottla.base.log import LogForm, configure
    from ottla.broker.config.loading import ConfigLoadError, SettingSource
    from ottla.broker.config.older import DECIDING, signs_of_older
    from ottla.cli.serving import serve

    older: list[str] = []
    try:
        configure(os.environ.get(_LOG_LEVEL, "INFO").upper(), form=LogForm(os.environ.get(_LOG_FORMAT, "kafka")))
        source = SettingSource(path)
        source.add_file(path)
        source.add_overrides(overrides)
        older = signs_of_older(source.settings)
        config = source.config()
        if older and older[0] in DECIDING:
            raise ConfigLoadError(f"{source.settings[older[0]].place}: {older[0]} is gone from Kafka 4.3")
    except (OttlaError, ValueError) as error:
        print(f"Exiting Kafka due to fatal exception: {error}", file=sys.stderr)
        if older:
            print(
                f"{_listed(older)} of an older Kafka: `ottla config upgrade {path}` prints the file for 4.3.",
                file=sys.stderr,
            )
        return 1
    return serve(config)


def _listed(keys: Sequence[str]) -> str:
    return f"{keys[0]} is" if len(keys) == 1 else f"{', '.join(keys[:-1])} and {keys[-1]} are"


if __name__ == "__main__":
    sys.exit(main())
